"""Well-formed messages with senseless content: `restructured` changes fields by the schema, so that every
parser is content and the code behind it has to judge.
"""

from random import Random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor as Field
from google.protobuf.message import Message

NUMBERS = (
    0,
    1,
    2,
    63,
    64,
    65,
    4096,
    4097,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**53,
    2**63 - 1,
    2**63,
    2**64 - 1,
    -1,
    -(2**31),
)
REALS = (0.0, -0.0, 1.0, -1.0, 1e-308, 1e308, -1e308, float("nan"), float("inf"), float("-inf"))
TEXTS = (
    "",
    " ",
    "a",
    "ann",
    "u1",
    "a\nb",
    "\x00",
    '"\\',
    "%s{0}",
    "\u202e\ufdfa",
    "x" * 300,
    "0 1 a\n",
    "(a|b)*",
    "/../x",
)
RANGES = {
    Field.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    Field.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    Field.CPPTYPE_UINT32: (0, 2**32 - 1),
    Field.CPPTYPE_UINT64: (0, 2**64 - 1),
    Field.CPPTYPE_ENUM: (0, 99),
}


def restructured(message: Message, random: Random) -> bytes:
    """The bytes of a copy in which one to five fields are something else."""
    copy = type(message).FromString(message.SerializeToString())
    for _ in range(random.randint(1, 5)):
        _change(_somewhere(copy, random), random)
    return copy.SerializeToString()


def _somewhere(message: Message, random: Random) -> Message:
    """The message itself or one inside it."""
    inner = [
        value
        for field, found in message.ListFields()
        if field.message_type and not field.message_type.GetOptions().map_entry
        for value in (found if _is_list(field) else [found])
    ]
    return _somewhere(random.choice(inner), random) if inner and random.random() < 0.8 else message


def _change(message: Message, random: Random) -> None:
    fields = [
        each
        for each in message.DESCRIPTOR.fields
        if not (each.message_type and each.message_type.GetOptions().map_entry)
    ]
    if not fields:
        return
    field = random.choice(fields)
    if not _is_list(field):
        if field.message_type:
            getattr(message, field.name).SetInParent()
        else:
            setattr(message, field.name, _value(field, random))
        return
    values = getattr(message, field.name)
    match random.choice(("clear", "less", "more", "double", "replace")):
        case "clear":
            message.ClearField(field.name)
        case "less" if values:
            del values[random.randrange(len(values))]
        case "double":
            values.extend(list(values))
        case "replace" if values and not field.message_type:
            values[random.randrange(len(values))] = _value(field, random)
        case _:
            if field.message_type:
                values.add()
            else:
                values.append(_value(field, random))


def _value(field: Field, random: Random) -> Any:
    match field.cpp_type:
        case Field.CPPTYPE_DOUBLE | Field.CPPTYPE_FLOAT:
            return random.choice(REALS)
        case Field.CPPTYPE_BOOL:
            return random.random() < 0.5
        case Field.CPPTYPE_STRING:
            text = random.choice(TEXTS)
            return text.encode() if field.type == Field.TYPE_BYTES else text
        case kind:
            least, most = RANGES[kind]
            return random.choice([number for number in NUMBERS if least <= number <= most])


def _is_list(field: Field) -> bool:
    repeated = getattr(field, "is_repeated", None)
    return bool(repeated) if repeated is not None else field.label == Field.LABEL_REPEATED
