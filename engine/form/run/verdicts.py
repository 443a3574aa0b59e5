"""The verdicts of an estimate: whether its plan is possible, and whether it fits."""

from engine.core.text import Text, say
from engine.core.units import BYTES
from engine.core.views import Badge
from engine.form.adjusted_inputs import joined
from engine.form.plain_words import plainly
from engine.form.run.result import Estimated
from engine.run.doubts import Doubts
from engine.run.run import Run


def possible(run: Run, doubts: Doubts, changes: tuple[Text, ...]) -> Badge:
    """Return whether software would run this plan as it is, and what speaks against it."""
    said = list(plainly(doubts.problems))
    gpu, precision = run.cluster.gpu, run.training.precision
    if (taken := gpu.computes_in(precision)) != precision:
        said.append(f"{gpu.name} has no {precision}; its {taken} peak is taken.")
    said += doubts.asked
    if changes:
        return Badge(text="Changed", sentence=joined(changes, said), color="communication")
    if said:
        return Badge(text="Doubtful", sentence=" ".join(said), color="communication")
    if sentence := uneven(run, doubts):
        return Badge(text="Uneven", sentence=sentence, color="communication")
    return Badge(text="Possible", sentence="Every size divides.", color="compute")


def uneven(run: Run, doubts: Doubts) -> str:
    """Return in words how layers that do not divide are spread; nothing where they do."""
    layers, sizes = run.model.num_layers, doubts.pieces
    if not sizes:
        return ""
    words = ", ".join(map(str, sizes[:8])) + (", …" if len(sizes) > 8 else ".")
    kind = "stages" if len(sizes) == run.plan.pipeline_parallel else "pieces"
    return f"{layers} layers do not divide by {len(sizes)} {kind}; they hold {words}"


def fit(found: Estimated) -> Badge:
    """Return whether the fullest GPU holds it."""
    capacity = found.run.cluster.gpu.memory
    words = "The fullest GPU needs {need}. Of its {have} as sold, tensors may fill {room}."
    if found.usable == capacity:
        words = "The fullest GPU needs {need}, the CUDA context included. It has {have} as sold."
    return Badge(
        text="Fits" if found.fits else "Does not fit",
        sentence=say(
            words,
            need=(found.held.peak_memory, BYTES),
            have=(capacity, BYTES),
            room=(found.usable, BYTES),
        ),
        color="compute" if found.fits else "communication",
    )
