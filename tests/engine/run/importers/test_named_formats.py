"""A format that is not read is refused by its name."""

import pytest

from engine.run.importers.assemble import import_run
from engine.run.importers.import_report import TextError
from engine.run.importers.recognize import name_format
from tests.engine.run.importers.format_texts import FORMATS

_TEXTS = {
    # allenai/OLMo-core src/scripts/official/OLMo2/OLMo-2-0325-32B-train.py
    "OLMo-core": """
from olmo_core.config import DType
from olmo_core.nn.transformer import TransformerConfig
from olmo_core.train.train_module import TransformerTrainModuleConfig

def build_model_config(common):
    return TransformerConfig.olmo2_32B(vocab_size=common.tokenizer.padded_vocab_size())
""",
    # pytorch/torchtune recipes/configs/llama3/8B_full.yaml
    "torchtune": """
tokenizer:
  _component_: torchtune.models.llama3.llama3_tokenizer
model:
  _component_: torchtune.models.llama3.llama3_8b
optimizer:
  _component_: torch.optim.AdamW
  lr: 2e-5
batch_size: 2
""",
    "LitGPT": "litgpt finetune_lora microsoft/phi-2 --data JSON --train.micro_batch_size 1\n",
    "fairseq": "fairseq-train data-bin --arch transformer --max-tokens 4096 --update-freq 8\n",
}


@pytest.mark.parametrize("name", _TEXTS)
def test_a_refusal_says_the_format(name):
    with pytest.raises(TextError, match=f"{name} is not read"):
        import_run(_TEXTS[name])


def test_formats_that_are_read_have_no_such_name():
    assert [name for name, (_, text, _) in FORMATS.items() if name_format(text)] == []


def test_nemo_without_megatron_says_why():
    text = (
        "from nemo import lightning as nl\nfrom nemo.collections import llm\n"
        "model = llm.HFAutoModelForCausalLM('a/b')\ntrainer = nl.Trainer(devices=8)\n"
    )
    with pytest.raises(TextError, match="HFAutoModel, which trains with FSDP2"):
        import_run(text)
