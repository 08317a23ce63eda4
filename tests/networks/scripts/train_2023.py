"""A training in the manner of 2023: ms and ops, a loop of one's own with value_and_grad, mixed precision, a scaler and clipping."""

import argparse
from pathlib import Path

import numpy as np

import mindspore as ms
import mindspore.dataset.transforms as transforms
import mindspore.dataset.vision as vision
from mindspore import amp, nn, ops
from mindspore.amp import DynamicLossScaler, all_finite
from mindspore.common.initializer import HeUniform
from mindspore.dataset import GeneratorDataset, RandomSampler


class Stripes:
    """Images of stripes, across or down, in noise."""

    def __init__(self, count, seed):
        random = np.random.default_rng(seed)
        self.label = random.integers(0, 2, count)
        stripe = (np.arange(16) // 2 % 2 * 160)[:, None].repeat(16, 1)
        self.image = [
            np.clip((stripe if y else stripe.T) + random.integers(0, 90, (16, 16)), 0, 255)
            for y in self.label
        ]

    def __getitem__(self, index):
        return self.image[index].astype(np.uint8)[..., None], np.int64(self.label[index])

    def __len__(self):
        return len(self.label)


def create_loader(count, seed, batch_size, is_training):
    """Batches of images and labels."""
    sampler = RandomSampler() if is_training else None
    shuffle = None if is_training else False
    loader = GeneratorDataset(
        Stripes(count, seed), ["image", "label"], sampler=sampler, shuffle=shuffle
    )
    trans = [vision.RandomHorizontalFlip()] if is_training else []
    trans += [vision.Rescale(1 / 255, 0.0), vision.HWC2CHW()]
    loader = loader.map(trans, "image").map(transforms.TypeCast(ms.int32), "label")
    return loader.batch(batch_size, drop_remainder=is_training)


class Network(nn.Cell):
    """A convolution, and a dense layer."""

    def __init__(self):
        super().__init__()
        self.features = nn.SequentialCell(
            nn.Conv2d(1, 8, 3, pad_mode="same", weight_init=HeUniform()),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.MaxPool2d(4, 4),
        )
        self.flatten, self.classifier = nn.Flatten(), nn.Dense(8 * 16, 2)

    def construct(self, x):
        return self.classifier(self.flatten(self.features(x)))


def train(model, loader, loss_fn, optimizer, scaler, clip_norm):
    """One epoch; the last loss."""

    def forward_fn(data, label):
        logits = model(data)
        loss = loss_fn(logits.astype(ms.float32), label)
        return scaler.scale(loss), logits

    grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters, has_aux=True)

    @ms.jit
    def train_step(data, label):
        (loss, _), grads = grad_fn(data, label)
        grads = scaler.unscale(grads)
        finite = all_finite(grads)
        if finite:
            grads = ops.clip_by_global_norm(grads, clip_norm)
            loss = ops.depend(loss, optimizer(grads))
        scaler.adjust(finite)
        return scaler.unscale(loss), finite

    model.set_train()
    size = loader.get_dataset_size()
    for batch, (data, label) in enumerate(loader.create_tuple_iterator()):
        loss, finite = train_step(data, label)
        if batch % 5 == 0:
            print(f"loss: {loss.asnumpy():>7f}  [{batch:>3d}/{size:>3d}] finite: {bool(finite)}")
    return float(loss)


def test(model, loader, loss_fn):
    """The accuracy."""
    model.set_train(False)
    total, loss, correct = 0, 0.0, 0
    for data, label in loader.create_tuple_iterator():
        pred = model(data)
        total += len(data)
        loss += loss_fn(pred.astype(ms.float32), label).asnumpy()
        correct += (pred.argmax(1) == label).asnumpy().sum()
    print(f"Accuracy: {100 * correct / total:>0.1f}%, Avg loss: {loss / total:>8f}")
    return correct / total


def main():
    """Train, keep the best, load it again."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", type=int, default=0)
    parser.add_argument("--device_target", default="Ascend")
    parser.add_argument("--amp_level", default="O2")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--ckpt_save_dir", default="./ckpt")
    args, _ = parser.parse_known_args()
    ms.set_seed(42)
    ms.set_context(mode=args.mode, device_target=args.device_target)

    train_loader = create_loader(256, 0, 32, True)
    test_loader = create_loader(64, 1, 32, False)
    model = Network()
    if args.amp_level != "O0":
        model = amp.auto_mixed_precision(model, args.amp_level)
    loss_fn = nn.CrossEntropyLoss(label_smoothing=0.05)
    steps = train_loader.get_dataset_size()
    lr = nn.cosine_decay_lr(1e-4, 5e-3, args.epochs * steps, steps, args.epochs)
    optimizer = nn.AdamWeightDecay(model.trainable_params(), lr, weight_decay=1e-4)
    scaler = DynamicLossScaler(scale_value=2**10, scale_factor=2, scale_window=50)

    folder = Path(args.ckpt_save_dir)
    folder.mkdir(parents=True, exist_ok=True)
    best, best_path = 0.0, folder / "best.ckpt"
    for epoch in range(args.epochs):
        print(f"Epoch {epoch + 1}\n-------------------------------")
        train(model, train_loader, loss_fn, optimizer, scaler, 5.0)
        accuracy = test(model, test_loader, loss_fn)
        if accuracy >= best:
            best = accuracy
            ms.save_checkpoint(model, str(best_path), append_dict={"epoch": epoch})
    param_dict = ms.load_checkpoint(str(best_path))
    missing, unexpected = ms.load_param_into_net(model, param_dict)
    print(f"missing: {missing} unexpected: {unexpected}")
    print(f"accuracy: {test(model, test_loader, loss_fn):.4f}")


if __name__ == "__main__":
    main()
