"""The walk that lists what no command, service, document or example reaches."""

from tests import reach


def test_what_nothing_reaches_is_listed(tmp_path, monkeypatch):
    """A module that nobody imports, and a name that nobody mentions."""
    for folder in ("daemon", "learners", "clients", "proto/codec", "src/galloon", "docs"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "src/galloon/__init__.py").write_text("")
    (tmp_path / "src/galloon/__main__.py").write_text(
        'TABLE = {"serve": ("galloon.daemon.serve", "serve", "")}\n'
    )
    (tmp_path / "daemon/serve.py").write_text(
        "from galloon.learners import used\n\ndef serve():\n    used.verb()\n\ndef forgotten():\n    pass\n"
    )
    (tmp_path / "learners/used.py").write_text(
        "NAMES = 3\n\ndef verb():\n    return NAMES\n\ndef spare():\n    return verb()\n"
    )
    (tmp_path / "learners/alone.py").write_text("def verb():\n    pass\n")
    (tmp_path / "README.md").write_text("")
    monkeypatch.setattr(reach, "ROOT", tmp_path)
    monkeypatch.setattr(reach, "DOCUMENTS", ("README.md",))
    assert reach.unreached() == [
        "galloon.daemon.serve.forgotten",
        "galloon.learners.alone",
        "galloon.learners.used.spare",
    ]


def test_nothing_of_the_product_is_unreached():
    assert reach.unreached() == []
