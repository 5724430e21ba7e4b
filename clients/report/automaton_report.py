"""What `galloon automaton` found: `AutomatonReport`, with its pictures and its machines as files."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pynini
import pywrapfst

from galloon.learners.automata.agreement import BothWays
from galloon.learners.automata.att_text import write_symbols, write_text
from galloon.learners.automata.diagram import (
    Diagram,
    context_diagram,
    expert_diagram,
    literal_diagram,
    transducer_diagram,
)
from galloon.learners.automata.drawing import to_dot, to_svg
from galloon.learners.automata.expert import ExpertAutomaton
from galloon.learners.automata.openfst import to_pynini
from galloon.learners.errors import BudgetExceeded

A, T_A, LITERAL, DIRECT = "A", "T_A", "A' (composed)", "A' (direct)"
FILES = {A: "A", T_A: "T_A", LITERAL: "A_prime_composed", DIRECT: "A_prime_direct"}


@dataclass(frozen=True)
class AutomatonReport:
    """One expert automaton, a gain, and A' built both ways; `words` are what the transitions of a lattice say."""

    expert: ExpertAutomaton
    words: tuple[str, ...] | None
    gain: dict[str, Any]
    both: BothWays

    @property
    def agree(self) -> bool:
        return self.both.agree

    def as_json(self) -> dict[str, Any]:
        literal, direct = self.both.literal, self.both.direct
        transducer = literal.transducer
        return {
            "gain": self.gain,
            "sizes": {
                A: {
                    "states": self.expert.state_count,
                    "transitions": self.expert.edge_count,
                    "paths": self.expert.path_count,
                },
                T_A: {
                    "states": int(transducer.machine.num_states()),
                    "transitions": _arcs(transducer.machine),
                    "symbols": len(transducer.symbols),
                },
                LITERAL: {"states": literal.state_count, "transitions": literal.transition_count},
                DIRECT: {
                    "states": direct.state_count,
                    "transitions": direct.transition_count,
                    "paths": direct.path_count,
                },
            },
            "agreement": {
                "agree": self.agree,
                "method": "minimal deterministic acceptors of the context symbols are isomorphic",
                "states": int(self.both.written.num_states()),
                "transitions": _arcs(self.both.written),
                "difference": None if self.both.difference is None else list(self.both.difference),
                "sentence": self._sentence(),
            },
        }

    def draw(self, folder: Path) -> dict[str, str]:
        """Write SVG and DOT; gives for each picture what became of it."""
        folder.mkdir(parents=True, exist_ok=True)
        done = {}
        for name, make in self._diagrams().items():
            file = folder / FILES[name]
            try:
                diagram = make()
            except BudgetExceeded as error:
                done[str(file)] = f"not drawn: {error}"
                continue
            file.with_suffix(".svg").write_text(to_svg(diagram), encoding="utf-8")
            file.with_suffix(".dot").write_text(to_dot(diagram), encoding="utf-8")
            done[str(file)] = "drawn as .svg and .dot"
        return done

    def export(self, folder: Path) -> tuple[str, ...]:
        """Write OpenFst binaries with their symbol tables inside; gives their names."""
        folder.mkdir(parents=True, exist_ok=True)
        transducer = self.both.literal.transducer
        names, symbols = (
            _table(transducer.expert.names),
            _table(map(transducer.symbol_name, transducer.symbols)),
        )
        machines = {
            A: to_pynini(self.expert),
            T_A: transducer.machine.copy().set_input_symbols(names).set_output_symbols(symbols),
            LITERAL: _with_symbols(self.both.literal.machine, symbols),
            DIRECT: _with_symbols(self.both.written, symbols),
        }
        # Before anything is written: not every name can stand in a text.
        texts = {"txt": write_text(self.expert), "syms": write_symbols(self.expert)}
        written = []
        for name, machine in machines.items():
            path = folder / f"{FILES[name]}.fst"
            path.write_bytes(machine.write_to_string())
            written.append(str(path))
        for ending, text in texts.items():
            path = folder / f"{FILES[A]}.{ending}"
            path.write_text(text, encoding="utf-8")
            written.append(str(path))
        return tuple(written)

    def _diagrams(self) -> dict[str, Any]:
        def direct() -> Diagram:
            return context_diagram(self.both.direct, self.words)

        return {
            A: lambda: expert_diagram(self.expert, self.words),
            T_A: lambda: transducer_diagram(self.both.literal.transducer),
            LITERAL: lambda: literal_diagram(self.both.literal),
            DIRECT: direct,
        }

    def _sentence(self) -> str:
        if self.agree:
            return (
                "The two constructions agree: written out in context symbols, determinised and minimised, "
                f"both A' are the same acceptor ({self.both.written.num_states():,} states, "
                f"{_arcs(self.both.written):,} transitions)."
            )
        example = " ".join(self.both.difference or ()) or "the empty sequence"
        return f"The two constructions DISAGREE. Only one of them accepts: {example}"


def _arcs(machine: pynini.Fst) -> int:
    return sum(int(machine.num_arcs(state)) for state in machine.states())


def _table(names: Any) -> pywrapfst.SymbolTable:
    table = pywrapfst.SymbolTable()
    table.add_symbol("<eps>", 0)
    for label, name in enumerate(names, start=1):
        table.add_symbol(name, label)
    return table


def _with_symbols(machine: pynini.Fst, symbols: pywrapfst.SymbolTable) -> pynini.Fst:
    named: pynini.Fst = machine.copy().set_input_symbols(symbols).set_output_symbols(symbols)
    return named
