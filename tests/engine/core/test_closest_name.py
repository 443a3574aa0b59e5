import pytest

from engine.core.closest_name import closest, edit_distance


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [
        ("kitten", "sitting", 3),  # the example that textbooks work by hand
        ("flaw", "lawn", 2),
        ("", "abc", 3),
        ("abc", "", 3),
        ("stage", "stage", 0),
    ],
)
def test_edits_are_counted(one, other, count):
    assert edit_distance(one, other) == edit_distance(other, one) == count


def test_the_nearest_name_is_meant():
    names = ("reduce_bucket_size", "prefetch_bucket_size", "stage")
    assert closest("reduce_bucket_sise", names) == "reduce_bucket_size"
    assert closest("stge", names) == "stage"


def test_a_word_far_from_all_names_means_none():
    assert closest("zzz", ("stage", "overlap_comm")) == ""
    assert closest("anything", ()) == ""
