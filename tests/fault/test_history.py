"""The short version of `make fault ARGS="--part undo --part erasure --part retention"`."""

from tests.fault import history


async def test_what_was_wrong_is_undone_under_load(tmp_path):
    print(await history.undo(tmp_path, 96, 6, 1, ("exchange.before_write", "exchange.after_sync")))


async def test_what_is_erased_is_gone_under_load(tmp_path):
    print(await history.erase(tmp_path, 64, 3, 2, ("erasure.after_list", "vacuum.before")))


async def test_history_is_cut_while_rounds_are_taught(tmp_path):
    print(await history.retention(tmp_path, 160, 3))
