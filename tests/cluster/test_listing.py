"""A listing shows the whole store and whose each learner is, or what is live on one daemon."""

from galloon.clients.api.client import Client
from galloon.clients.commands.learner_tables import listing
from galloon.learners.combiners.spec import CombinerSpec
from tests.daemon.serving import serving
from tests.postgres import needs_postgres, shared

SPEC = CombinerSpec(
    engines=("ann", "bob"), algorithm="expanded_hedge", gain={"kind": "ngram", "order": 2}, window=4
)


@needs_postgres
async def test_all_learners_are_listed_and_those_of_one_daemon_apart(tmp_path):
    url = shared().new_database()
    async with serving(tmp_path, store__url=url) as daemon, Client(daemon.app.address) as client:
        for name in ("one", "two"):
            await client.create_learner(name, SPEC)
    async with serving(tmp_path, store__url=url) as daemon, Client(daemon.app.address) as client:
        await client.get_learner("two")  # which is recovered for that
        found = await client.list_learners()
        assert [(learner.name, learner.daemon) for learner in found] == [
            ("one", daemon.app.address),
            ("two", daemon.app.address),
        ]
        assert [learner.name for learner in await client.list_learners("o")] == ["one"]
        assert [learner.name for learner in await client.list_learners(this_daemon=True)] == ["two"]
        assert "daemon" in [column.header for column in listing(found).columns]
        figures = daemon.app.page._cluster()
        assert (figures.members, figures.shards_owned, figures.shards_without_owner) == (1, 64, 0)
