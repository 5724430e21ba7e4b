"""Bugs to be planted: a place in the source, what stands there, what to put there instead, and who must notice.

`PLANTS` is the list. A check is a pytest selection, or a module of the fault suite with its arguments
("{scratch}" is a fresh folder). A plant that no longer fits the source is an error of the test, not a pass.
"""

from dataclasses import dataclass

KILLS = ("tests.fault.kills", "{scratch}", "random", "15", "3")
POWER = ("tests.fault.power_loss", "{scratch}", "30", "3", "3")


@dataclass(frozen=True, slots=True)
class Plant:
    """One bug. `quick` ones are planted on every run of the tests, all of them by `make fault`."""

    name: str
    file: str
    old: str
    new: str
    check: tuple[str, ...]
    quick: bool = False


PLANTS = (
    Plant(
        "acknowledge before sync",
        "daemon/store/journal.py",
        "        self._queue.append(entry)\n        if entry.on_durable",
        "        if entry.on_durable is not None:\n"
        "            self._loop.call_soon_threadsafe(entry.on_durable, None)\n"
        "            entry = Entry(entry.learner, entry.seq, entry.kind, entry.body)\n"
        "        self._queue.append(entry)\n        if entry.on_durable",
        KILLS,
    ),
    Plant(
        "no sync at all",
        "daemon/store/sqlite_schema.py",
        "PRAGMA synchronous = FULL",
        "PRAGMA synchronous = OFF",
        POWER,
    ),
    Plant(
        "a sync now and then",
        "daemon/store/sqlite_schema.py",
        "PRAGMA synchronous = FULL",
        "PRAGMA synchronous = NORMAL",
        POWER,
    ),
    Plant(
        "checksum skipped",
        "daemon/store/sqlite_schema.py",
        "        return crc32(body, crc32(",
        "        return 0 * crc32(body, crc32(",
        ("tests/daemon/store/test_sqlite.py::test_a_damaged_journal_is_refused_by_name",),
        quick=True,
    ),
    Plant(
        "checksum of a snapshot skipped",
        "learners/state.py",
        "    if _checksum(body) != checksum:",
        "    if len(_checksum(body)) != len(checksum):",
        ("tests/learners/test_state.py",),
    ),
    Plant(
        "double apply",
        "daemon/learner/learner.py",
        "            lesson = self._combiner.learn(memory, feedback, round_.view)\n",
        "            self._combiner.learn(memory, feedback, round_.view)\n"
        "            lesson = self._combiner.learn(memory, feedback, round_.view)\n",
        ("tests/daemon/learner/test_recovery.py::test_the_state_is_that_of_the_library",),
    ),
    Plant(
        "the warm view of another round",
        "daemon/learner/learner.py",
        "            lesson = self._combiner.learn(memory, feedback, round_.view)\n",
        "            other = next(iter(self.rounds.recent.values()))\n"
        "            lesson = self._combiner.learn(memory, feedback, other.view)\n",
        ("tests/daemon/learner/test_warm.py",),
    ),
    Plant(
        "a choice applied twice",
        "daemon/learner/learner.py",
        "        event, warm = self._chosen(message, canonical, number, alternatives)\n",
        "        event, warm = self._chosen(message, canonical, number, alternatives)\n"
        "        self.apply(event, warm)\n",
        ("tests/daemon/learner/test_round.py",),
        quick=True,
    ),
    Plant(
        "generator's place missing from the snapshot",
        "daemon/learner/round.py",
        'self.started, self.lessons = int(meta["started"])',
        "self.started, self.lessons = 0",
        ("tests/daemon/learner/test_recovery.py::test_an_interrupted_run_equals_one_that_never_stopped",),
    ),
    Plant(
        "unbounded queue",
        "daemon/store/journal.py",
        "        return self._queued_bytes < self._queue_bytes",
        "        return True",
        ("tests/daemon/store/test_journal.py::test_a_queue_that_the_disk_cannot_follow_says_so",),
        quick=True,
    ),
    Plant(
        "calls of strangers not counted",
        "daemon/rpc/server.py",
        "        maximum_concurrent_rpcs=config.limits.streams + config.limits.other_calls,\n",
        "",
        (
            "tests/abuse/test_neighbours.py::test_calls_that_say_nothing_are_counted_before_anything_is_known_of_them",
        ),
    ),
    Plant(
        "what was written stays in memory",
        "daemon/store/sqlite.py",
        "        if len(body) > RETAINED_BYTES:\n",
        "        if not body:\n",
        ("tests/daemon/store/test_sqlite.py::test_what_was_written_is_let_go_of",),
    ),
    Plant(
        "last-header authentication",
        "daemon/rpc/auth.py",
        "        if len(headers) != 1:\n",
        "        headers = headers[-1:]\n        if len(headers) != 1:\n",
        ("tests/daemon/rpc/test_auth.py::test_no_method_answers_without_a_good_token",),
        quick=True,
    ),
    Plant(
        "prefix of a token's learners ignored",
        "daemon/rpc/auth.py",
        "        return learner.startswith(self.learners)",
        "        return bool(self.learners)",
        ("tests/daemon/rpc/test_auth.py::test_a_token_opens_its_own_learners_and_no_others",),
    ),
    Plant(
        "budget ignored",
        "daemon/limits.py",
        "    if needed > allowed:",
        "    if needed > 2 * allowed:",
        ("tests/daemon/rpc/test_bad_input.py",),
    ),
    Plant(
        "divisor taken at arrival instead of at choice",
        "learners/paths/exp3_paths.py",
        "        log_probability = float(memory.numbers[0])\n",
        "        log_probability = self._log_probability(memory.edges)\n",
        ("tests/learners/paths/test_every_learner.py", "-k", "any_order and exp3"),
    ),
    Plant(
        "a failed sync tried again",
        "daemon/store/sqlite.py",
        'return getattr(problem, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL',
        "return isinstance(problem, sqlite3.Error)",
        ("tests/daemon/store/test_sqlite.py::test_any_error_but_a_full_disk_is_a_failure",),
    ),
    Plant(
        "retention drops one entry too many",
        "daemon/store/sqlite.py",
        "DELETE FROM journal WHERE learner = ?1 AND seq <= ?2 AND",
        "DELETE FROM journal WHERE learner = ?1 AND seq <= ?2 + 1 AND",
        (
            "tests/daemon/store/test_backend.py::test_retention_cuts_at_a_snapshot_and_keeps_rounds_that_go_on",
        ),
    ),
    Plant(
        "internal text for the client",
        "daemon/errors.py",
        'return Internal("the daemon failed on this request; it has logged why")',
        "return Invalid(repr(error))",
        ("tests/sabotage/test_words.py",),
    ),
    # One client stops everybody.
    Plant(
        "hardening: a learner that cannot be restored stops the start",
        "daemon/learner/fold.py",
        "        return Quarantined(stored.key, stored.name, str(error))\n",
        "        raise\n",
        ("tests/daemon/learner/test_quarantine.py", "-k", "named_and_the_others_serve"),
    ),
    Plant(
        "hardening: a snapshot replaces a good one unseen",
        "daemon/learner/learner.py",
        "        await asyncio.to_thread(self._check_comes_back, taken.data)\n",
        "",
        ("tests/daemon/learner/test_quarantine.py", "-k", "never_replaces"),
    ),
    Plant(
        "hardening: an import is not rehearsed",
        "daemon/learner/registry.py",
        "            return learner, learner.rehearse()\n",
        "            return learner, data\n",
        ("tests/abuse/test_forgery.py", "-k", "only_fail_later"),
    ),
    Plant(
        "hardening: texts of a state that no wire can carry",
        "learners/state.py",
        "        json.dumps(header, ensure_ascii=False).encode()",
        "        pass",
        ("tests/learners/test_state.py", "-k", "surrogate"),
    ),
    Plant(
        "hardening: counters without a limit",
        "learners/state.py",
        "not 0 <= count < MOST_COUNTED",
        "count < 0",
        ("tests/learners/test_state.py", "-k", "counts"),
    ),
    Plant(
        "hardening: rounds that remember without a budget",
        "learners/paths/game.py",
        "        self._check_budget(count)\n",
        "",
        ("tests/learners/combiners/test_round_budget.py", "-k", "divided_by"),
    ),
    Plant(
        "hardening: snapshots in one piece",
        "daemon/store/sqlite_schema.py",
        "    pieces = max(1, -(-len(body) // PIECE_BYTES))\n",
        "    pieces = 1\n",
        ("tests/daemon/store/test_sqlite.py", "-k", "larger_than_a_value"),
        quick=True,
    ),
    Plant(
        "hardening: a store that the world can read",
        "daemon/store/sqlite_schema.py",
        "OWNER_ONLY = 0o600",
        "OWNER_ONLY = 0o644",
        ("tests/daemon/store/test_data_dir.py", "-k", "owners_alone"),
    ),
    Plant(
        "hardening: only the lock file is locked",
        "daemon/store/data_dir.py",
        "            _lock_folder(self._folder)\n",
        "",
        ("tests/daemon/store/test_data_dir.py", "-k", "removed"),
    ),
    Plant(
        "hardening: a copy for each export",
        "daemon/rpc/exports.py",
        "        copy = self._copies.get(key)\n",
        "        copy = None\n        key = (learner, -len(self._copies))\n",
        ("tests/abuse/test_neighbours.py", "-k", "nobody_reads"),
    ),
    Plant(
        "hardening: letters compared without a limit",
        "daemon/learner/books.py",
        "        if len(reference) * max(map(len, normal.values())) > MOST_PAIRS:\n            return\n",
        "",
        ("tests/daemon/learner/test_books.py", "-k", "others_would_wait"),
    ),
    Plant(
        "hardening: a snapshot of a learner that has gone",
        "daemon/store/sqlite.py",
        "            case SaveSnapshot(learner):\n                self._check_exists(learner)\n",
        "            case SaveSnapshot(learner):\n",
        ("tests/daemon/learner/test_registry.py", "-k", "leaves_nothing_behind"),
    ),
    Plant(
        "hardening: exponents unfold",
        "learners/text/spoken_numbers.py",
        'PLAIN_NUMBER = re.compile(r"[0-9]{1,15}(\\.[0-9]{1,15})?")',
        'PLAIN_NUMBER = re.compile(r"[0-9]+(\\.[0-9]+)?(e[0-9]+)?")',
        ("tests/learners/text/test_normalizers.py", "-k", "never_unfolds"),
    ),
    Plant(
        "hardening: a task that dies in silence",
        "daemon/operate/tasks.py",
        "            await self._guarded(name, work)\n            await asyncio.sleep(PAUSE_S)\n",
        "            await work()\n            await asyncio.sleep(PAUSE_S)\n",
        ("tests/daemon/operate/test_tasks.py",),
        quick=True,
    ),
    Plant(
        "hardening: a deletion that was refused leaves half a learner",
        "daemon/learner/registry.py",
        "                await learner.reopen()",
        "                pass",
        ("tests/daemon/learner/test_registry.py", "-k", "full_disk_refuses"),
    ),
    Plant(
        "hardening: unfinished requests stay",
        "daemon/http/connections.py",
        "        else:\n            self._transport.abort()\n",
        "",
        ("tests/abuse/test_ports.py", "-k", "no_places_for_ever"),
    ),
    Plant(
        "hardening: connections without a number",
        "daemon/http/connections.py",
        "        return len(self.open) > self._most",
        "        return False",
        ("tests/abuse/test_ports.py", "-k", "no_places_for_ever"),
    ),
    Plant(
        "hardening: metrics name everybody's learners",
        "daemon/http/scrape.py",
        "    shown = min(shown, sum(may_see(learner.name) for learner in learners))\n",
        "",
        ("tests/daemon/test_operations.py", "-k", "caller_alone"),
    ),
    Plant(
        "hardening: the page makes learners by rules of its own",
        "daemon/http/page/trial.py",
        '        spec = self._registry.limited(spec, "outputs")\n',
        "",
        ("tests/daemon/http/page/test_trial.py", "-k", "rules_of_the_wire"),
    ),
    Plant(
        "hardening: a header that is no text is a defect",
        "daemon/rpc/auth.py",
        'token.encode(errors="surrogateescape")',
        "token.encode()",
        ("tests/daemon/test_operations.py", "-k", "no_text"),
    ),
    Plant(
        "hardening: a body that is nested too deep is a defect",
        "daemon/http/page/routes.py",
        "            RecursionError,\n",
        "",
        ("tests/daemon/http/page/test_trial.py", "-k", "cannot_be_read"),
    ),
    Plant(
        "hardening: much is measured by little",
        "daemon/learner/work_queue.py",
        "            apart = piece.kind[0] in (DISK, LARGE)\n",
        "            apart = piece.kind[0] == DISK\n",
        ("tests/daemon/learner/test_work_queue.py", "-k", "measured_by_little"),
    ),
    Plant(
        "hardening: documents are matched without a limit on time",
        "daemon/rpc/matching_process.py",
        "    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))\n",
        "",
        ("tests/abuse/test_documents.py", "-k", "too_long"),
    ),
    Plant(
        "hardening: rounds by their ids in one answer",
        "daemon/learner/past_rounds.py",
        "        if number < len(ids) and (size > PAGE_BYTES or monotonic() > end):\n",
        "        if number > len(ids):\n",
        ("tests/abuse/test_long_lists.py", "-k", "by_their_ids"),
    ),
    Plant(
        "hardening: all specs in one answer",
        "daemon/rpc/management.py",
        "        if size > PAGE_BYTES:\n",
        "        if not size:\n",
        ("tests/abuse/test_long_lists.py", "-k", "by_size"),
    ),
    Plant(
        "hardening: an id that ends a line",
        "daemon/store/erasures.py",
        'enumerate(whole.split("\\n") if whole else (), 1)',
        "enumerate(whole.splitlines(), 1)",
        ("tests/daemon/store/test_erasures.py", "-k", "whatever"),
        quick=True,
    ),
    Plant(
        "hardening: two exchanges at once",
        "daemon/rpc/challenges.py",
        "        async with champion.promoting:",
        "        async with asyncio.Lock():",
        ("tests/daemon/learner/test_challengers.py", "-k", "lose_no_spec"),
    ),
)
