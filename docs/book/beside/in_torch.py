import torch
from torch.nn.functional import cross_entropy

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = torch.nn.Linear(3, 2)
        torch.nn.init.zeros_(self.dense.weight)
        torch.nn.init.zeros_(self.dense.bias)

    def forward(self, x):
        return self.dense(x)

x = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
classes = torch.tensor([0, 1])
net = Net()
adam = torch.optim.Adam(net.parameters(), lr=0.1)
for _ in range(3):
    loss = cross_entropy(net(x), classes)
    adam.zero_grad()
    loss.backward()
    adam.step()
    print(f"{loss.item():.4f}")
with torch.no_grad():
    right = net(x).argmax(dim=1) == classes
    print(right.float().mean().item())
