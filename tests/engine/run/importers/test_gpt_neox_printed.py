"""The arguments that GPT-NeoX prints: those of its YAML, marked where they were updated."""

from engine.run.importers.assemble import import_run

PRINTED = """NeoXArgs.calculate_derived() Total number of GPUs determined to be: 16
-------------------- arguments --------------------
  attention_config ................ ['flash', 'flash']........................updated
  bf16 ............................ {'enabled': True}..........................updated
  checkpoint_activations .......... True........................updated
  global_num_gpus ................. 16..........................updated
  gradient_accumulation_steps ..... 2...........................updated
  hidden_size ..................... 4096........................updated
  num_layers ...................... 32..........................updated
  num_attention_heads ............. 32..........................updated
  seq_length ...................... 2048........................updated
  max_position_embeddings ......... 2048........................updated
  model_parallel_size ............. 2...........................updated
  pipe_parallel_size .............. 2...........................updated
  precision ....................... bfloat16....................updated
  train_batch_size ................ 32..........................updated
  train_micro_batch_size_per_gpu .. 4...........................updated
  zero_optimization ............... {'stage': 1, 'allgather_bucket_size': 500000000}..updated
  zero_stage ...................... 1...........................updated
  pos_emb ......................... rotary......................updated
  no_weight_tying ................. True........................updated
  padded_vocab_size ............... None
  attention_dropout ............... 0
---------------- end of arguments ----------------
"""


def test_the_printed_arguments_are_those_of_its_yaml():
    found = import_run(PRINTED)
    assert found.dialects == ("GPT-NeoX printed arguments",)
    assert found.contradictions == ()
    plan, training = found.run.plan, found.run.training
    assert (plan.world_size, plan.tensor_parallel, plan.pipeline_parallel) == (16, 2, 2)
    assert (plan.zero_stage, training.precision, training.recompute) == (1, "bf16", "full")
    assert (training.micro_batch_size, training.global_batch_size) == (4, 32)
    assert (training.sequence_length, found.run.model.hidden_size) == (2048, 4096)
    assert [entry.key for entry in found.entries if entry.kind == "not known"] == []


def test_every_key_has_its_line_and_what_was_not_updated_is_the_default():
    entries = {entry.key: entry.line for entry in import_run(PRINTED).entries if entry.line}
    assert entries["hidden_size"] == 8
    assert entries["zero_optimization.stage"] == 18
    assert "padded_vocab_size" not in entries


def test_a_log_of_megatron_is_not_taken_for_it():
    found = import_run(
        "  tensor_model_parallel_size ........ 4\n  num_layers ......... 8\n"
        "  hidden_size ....... 64\n"
        "  num_attention_heads ....... 8\n"
    )
    assert found.dialects == ("Megatron-LM log",)
