"""The training loop of each variant of data parallelism, in PyTorch."""

CODE = {
    "star": """\
for inputs, targets in loader:
    loss = loss_function(model(inputs), targets)
    loss.backward()
    for parameter in model.parameters():       # every tensor, after the backward pass
        gradient = parameter.grad
        if dist.get_rank() > 0:
            dist.send(gradient, dst=0)
            dist.recv(gradient, src=0)
            continue
        received = torch.empty_like(gradient)
        for rank in range(1, dist.get_world_size()):
            dist.recv(received, src=rank)      # rank 0 takes all of them in, one by one,
            gradient += received
        gradient /= dist.get_world_size()
        for rank in range(1, dist.get_world_size()):
            dist.send(gradient, dst=rank)      # and sends the mean to everyone
    optimizer.step()
    optimizer.zero_grad()
""",
    "ring": """\
for inputs, targets in loader:
    loss = loss_function(model(inputs), targets)
    loss.backward()
    gradients = [parameter.grad for parameter in model.parameters()]
    flat = torch.cat([gradient.flatten() for gradient in gradients])
    dist.all_reduce(flat, op=dist.ReduceOp.AVG)   # one ring over one buffer, blocking
    offset = 0
    for gradient in gradients:
        gradient.copy_(flat[offset:offset + gradient.numel()].view_as(gradient))
        offset += gradient.numel()
    optimizer.step()
    optimizer.zero_grad()
""",
    "interleaved": """\
works = []

def reduce(parameter):                         # called when its gradient is complete
    work = dist.all_reduce(parameter.grad, op=dist.ReduceOp.AVG, async_op=True)
    works.append(work)

for parameter in model.parameters():
    parameter.register_post_accumulate_grad_hook(reduce)

for inputs, targets in loader:
    loss_function(model(inputs), targets).backward()
    for work in works:
        work.wait()
    works.clear()
    optimizer.step()
    optimizer.zero_grad()
""",
    "buckets": """\
model = torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=25)

for inputs, targets in loader:
    loss = loss_function(model(inputs), targets)
    loss.backward()                            # buckets are reduced meanwhile
    optimizer.step()
    optimizer.zero_grad()
""",
}
