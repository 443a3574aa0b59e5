"""Pipeline schedules, one file each: in which order every rank computes. The folder is the list.

A file holds TITLE, SOURCES (keys of the bibliography), COPIES (of its part of the model that a rank
holds), PLACEMENT (see `engine.core.pipeline_op`), CHUNKS (the numbers of chunks it allows),
`obstacle` (why it cannot run with these numbers, or nothing) and `order` (what a rank computes, in
turn). STEADY = False says that p more micro-batches need not always add the same to a step.
`group`, where there is one, returns how many micro-batches pass a chunk in a row.
"""
