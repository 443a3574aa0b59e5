"""Badge of a run: whether its plan is possible."""

from engine.core.text import Text
from engine.core.views import Badge
from engine.form.adjusted_inputs import join_sentences
from engine.form.plain_words import plain_sentences
from engine.run.doubts import RunWarnings
from engine.run.run import Run


def possible_badge(run: Run, doubts: RunWarnings, changes: tuple[Text, ...]) -> Badge:
    """Return whether software would run this plan as it is, or what prevents it."""
    sentences = list(plain_sentences(doubts.problems))
    gpu, precision = run.cluster.gpu, run.training.precision
    if (taken := gpu.computes_in(precision)) != precision:
        sentences.append(f"{gpu.name} has no {precision}; its {taken} peak is taken.")
    sentences += doubts.asked
    if changes:
        return Badge(
            text="Changed", sentence=join_sentences(changes, sentences), color="communication"
        )
    if sentences:
        return Badge(text="Doubtful", sentence=" ".join(sentences), color="communication")
    if sentence := uneven_layers_text(run, doubts):
        return Badge(text="Uneven", sentence=sentence, color="communication")
    return Badge(text="Possible", sentence="Every size divides.", color="compute")


def uneven_layers_text(run: Run, doubts: RunWarnings) -> str:
    """Return the sentence on layers that the stages do not divide, or ""."""
    layers, sizes = run.model.num_layers, doubts.pieces
    if not sizes:
        return ""
    words = ", ".join(map(str, sizes[:8])) + (", …" if len(sizes) > 8 else ".")
    kind = "stages" if len(sizes) == run.plan.pipeline_parallel else "virtual stages"
    return f"{layers} layers do not divide by {len(sizes)} {kind}; they hold {words}"
