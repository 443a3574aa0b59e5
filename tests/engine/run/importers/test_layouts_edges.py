"""Layers of each piece of a pipeline that Megatron's arguments cut unevenly, at the limits."""

from engine.run.importers.import_report import RunDraft
from engine.run.importers.layouts import parse_layout, read_layout
from tests.each import each

FIRST, LAST = "decoder-first-pipeline-num-layers", "decoder-last-pipeline-num-layers"
LAYOUT = "pipeline-model-parallel-layout"
ENDS = "--decoder-first- and --decoder-last-pipeline-num-layers"


def draft_of(layers, ranks):
    sizes = {"model.num_layers": layers, "parallelism.pipeline_parallel": ranks}
    return RunDraft(values=sizes)


@each(
    "layers, ranks, ends, cut",
    [
        (32, 4, {}, None),
        (32, 4, {FIRST: 6, LAST: 6}, [6, 10, 10, 6]),
        (32, 4, {FIRST: "5"}, [5, 9, 9, 9]),
        (32, 4, {LAST: 2}, [10, 10, 10, 2]),
        (32, 4, {FIRST: 0, LAST: 2}, [0, 15, 15, 2]),
        (32, 4, {FIRST: 30, LAST: 2}, [30, 0, 0, 2]),
        (9, 2, {FIRST: 4}, [4, 5]),
        (9, 2, {FIRST: 4, LAST: 5}, [4, 5]),
        (9, 3, {FIRST: 2, LAST: 2}, [2, 5, 2]),
        (9, 1, {FIRST: 4}, None),
        (0, 4, {FIRST: 4}, None),
        (4096, 4096, {FIRST: 1}, [1] * 4096),
        (4097, 4097, {FIRST: 1}, None),
        (32, 4, {FIRST: "many"}, None),
    ],
)
def test_the_layers_between_both_ends_are_cut_evenly(layers, ranks, ends, cut):
    draft = draft_of(layers, ranks)
    assert read_layout(draft, ends) == (None if cut is None else (cut, ENDS))
    assert draft.contradictions == []


@each(
    "layers, ranks, ends, left, between",
    [
        (32, 4, {FIRST: 5, LAST: 6}, 21, 2),
        (32, 4, {FIRST: 3}, 29, 3),
        (32, 4, {LAST: 33}, -1, 3),
        (32, 4, {FIRST: 35}, -3, 3),
        (9, 2, {FIRST: 4, LAST: 4}, 1, 0),
    ],
)
def test_layers_between_both_ends_that_cannot_be_cut_are_told(layers, ranks, ends, left, between):
    draft = draft_of(layers, ranks)
    assert read_layout(draft, ends) is None
    assert draft.contradictions == [
        f"number of layers at middle stage: {left} must be divisible by the middle pipeline "
        f"model parallel size {between}"
    ]


def test_without_a_number_of_layers_there_are_none_to_cut():
    draft = RunDraft(values={"parallelism.pipeline_parallel": 2})
    assert (read_layout(draft, {FIRST: 1}), draft.contradictions) == (None, [])


@each(
    "text, ranks, cut, virtual",
    [
        ("Et|tL", 2, [1, 1], None),
        ("Ett|t|t|tL", 2, [2, 1, 1, 1], 2),
        ("Ett|t|tL", 2, [2, 1, 1], None),
        ("Et|tL", 4, [1, 1], None),
        ("Et|t|t|t|t|tL", 2, [1] * 6, 3),
    ],
)
def test_a_layout_says_how_many_pieces_a_rank_has(text, ranks, cut, virtual):
    draft = draft_of(8, ranks)
    assert read_layout(draft, {LAYOUT: text}) == (cut, "--pipeline-model-parallel-layout")
    assert draft.values.get("parallelism.virtual_pipeline") == virtual


def test_a_layout_goes_before_the_layers_of_both_ends():
    found = read_layout(draft_of(8, 2), {LAYOUT: "Ettt|tL", FIRST: 2})
    assert found == ([3, 1], "--pipeline-model-parallel-layout")
    assert read_layout(draft_of(8, 2), {LAYOUT: "xyz", FIRST: 2}) is None


@each("text", ["", "None", None])
def test_where_no_layout_is_written_both_ends_count(text):
    assert read_layout(draft_of(8, 2), {LAYOUT: text, FIRST: 2}) == ([2, 6], ENDS)


@each(
    "text, sizes",
    [
        ("t", [1]),
        ("E|L", []),
        ("tx", []),
        ("'Et*2|tL'", [2, 1]),
        ('"Et, t|m|L"', [2, 0, 0]),
        ("(tt|)*2tL", [2, 2, 1]),
        ("(t*2|)*2t", [2, 2, 1]),
        ("((t|)*2m|)*2L", [1, 1, 0, 1, 1, 0, 0]),
        ("t|*3t", [1, 0, 0, 1]),
        ("t*0|t", [0, 1]),
        ("t*999", [999]),
        ("t" * 500, [500]),
        # The longest layout has 500 characters.
        ("t" * 501, [500]),
        ("t" * 500 + "x", [500]),
        # Twenty rounds of eight repetitions are worked out.
        ("t*1" * 160, [160]),
        ("t*1" * 160 + "t*2", [161]),
    ],
)
def test_a_layout_says_the_layers_of_each_piece(text, sizes):
    assert parse_layout(text) == sizes


@each("pieces, found", [(4096, 4096), (4097, 0)])
def test_a_layout_has_4096_pieces_at_most(pieces, found):
    hundreds, rest = divmod(pieces - 1, 100)
    assert len(parse_layout(f"(|*100)*{hundreds}{'|' * rest}t")) == found


# What is repeated: 200 characters, 20 000 of them in the end, or one more.
@each("more, sizes", [("", [20_000]), ("t", [])])
def test_a_layout_is_unrolled_to_20000_characters(more, sizes):
    assert parse_layout(f"({'t' * 100})*200{more}") == sizes
