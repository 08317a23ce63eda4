"""Values that a tensor chose (values.Choice): what is known of the choice on the way that is being traced, and doing something
with each option in a branch of its own."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from mindspore import _core, ops
from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.compile.decided.fork import Fork
from mindspore.compile.decided.parts import TracerPart
from mindspore.compile.program.borders import program_error
from mindspore.compile.program.errors import Unsupported, note_expression
from mindspore.compile.program.marks import note_raised
from mindspore.compile.values.numbers import is_number
from mindspore.compile.values.ranges import INTEGERS
from mindspore.compile.values.structure import exchanged, first, replace_leaves
from mindspore.compile.values.values import NUMBERS, Choice, Undefined, dtype_of, pick, same_type

Operation = TypeVar("Operation", bound=Callable)


def by_option(operation: Operation) -> Operation:
    """A method of a Tracer that looks at its first argument: of one that a tensor chose, at the option that is taken."""

    @functools.wraps(operation)
    def look(self: Choices, value: Any, *rest: Any) -> Any:
        if isinstance(value, Choice):
            return self.split(value, lambda option: look(self, option, *rest))
        return operation(self, value, *rest)

    return cast("Operation", look)


class Choices(TracerPart):
    """A storey of Tracer."""

    limits: list[tuple[Any, frozenset]]  # (index, what it may be) on the way being traced
    decided: dict[Any, tuple[list, list]]  # condition -> the limits where it holds, and does not
    numbers: dict[Any, Choice]  # a tensor that stands for Python numbers -> these
    conditions: dict[Any, Tensor]  # index of two options -> the condition that means the first

    def decide(self, condition: Tensor, index: Tensor, where: set, options: int) -> None:
        """Notes that `condition` says whether `index` is one of `where`."""
        key, rest = _core.value_id(index), frozenset(range(options)) - where
        self.note(condition, [(key, frozenset(where))], [(key, rest)])
        if where == {0} and options == 2:
            self.conditions[key] = condition

    def note(self, condition: Tensor, holds: list, fails: list) -> None:
        """Notes what follows where a condition holds, and where it does not."""
        if condition.is_symbolic:
            known = self.decided.setdefault(_core.value_id(condition), ([], []))
            known[0].extend(holds)
            known[1].extend(fails)

    def limits_when(self, condition: Tensor, holds: bool) -> list[tuple[Any, frozenset]]:
        """What a condition says of choices where it holds, or does not."""
        known = self.decided.get(_core.value_id(condition), ((), ()))
        return list(known[0 if holds else 1])

    def allowed(self, choice: Choice) -> list[int]:
        """The options that are possible here."""
        key = _core.value_id(choice.index)
        found = set(range(len(choice.options)))
        for index, where in self.limits:
            if index == key:
                found &= where
        return sorted(found)

    def resolve(self, value: Any) -> Any:
        """The option, where only one is possible."""
        if not isinstance(value, Choice):
            return value
        allowed = self.allowed(value)
        return value.options[allowed[0]] if len(allowed) == 1 else value

    def is_undecided(self, value: Any) -> bool:
        """A condition that is known only at run time."""
        return self.is_traced(value) or isinstance(value, Choice)

    def split(self, choice: Any, use: Callable[[Any], Any]) -> Any:
        """`use` of the option that is taken."""
        if not isinstance(choice, Choice):
            return use(choice)
        allowed = self.allowed(choice)
        numbers: dict[int, Any] = {}
        value = self._split(choice, allowed, use, numbers)
        if isinstance(value, Tensor) and value.is_symbolic and len(numbers) == len(allowed) > 1:
            if all(isinstance(n, bool) for n in numbers.values()):
                where = {option for option, truth in numbers.items() if truth}
                self.decide(value, choice.index, where, len(choice.options))
            missing = Undefined("it is of a way that is not taken")
            options = [numbers.get(i, missing) for i in range(len(choice.options))]
            self.numbers[_core.value_id(value)] = Choice(choice.index, options)
        return value

    def as_choice(self, value: Any) -> Any:
        """The numbers that a tensor stands for, as branches left them, where Python needs a number."""
        if self.numbers and isinstance(value, Tensor) and value.is_symbolic:
            choice = self.numbers.get(_core.value_id(value))
            if choice is not None and self.trace.sees(choice.index):
                return choice
        return value

    def with_numbers(self, args: list, kwargs: dict, use: Callable[[list, dict], Any]) -> Any:
        """A call; where it needs numbers and gets tensors that stand for some, in a branch for each of them."""
        if not self.numbers:
            return use(args, kwargs)
        try:
            return use(args, kwargs)
        except (TypeError, ValueError):
            chosen = replace_leaves((args, kwargs), self.as_choice)
            if first(chosen, Choice) is None:
                raise
            chosen_args, chosen_kwargs = chosen
            return self.split_arguments(chosen_args, chosen_kwargs, use)

    def _split(self, choice: Choice, allowed: list[int], use: Callable, numbers: dict) -> Any:
        if len(allowed) == 1:
            option = choice.options[allowed[0]]
            if isinstance(option, Undefined):
                raise Unsupported(f"a value has no single value here: {option.reason}")
            result = use(option)
            if isinstance(result, NUMBERS):
                numbers[allowed[0]] = result
            return result
        middle = len(allowed) // 2
        condition = self.below(choice, allowed[middle])
        fork = Fork(self.whole, self.places[-1][0], condition)
        ways = [allowed[:middle], allowed[middle:]]
        arms = [
            fork.arm(side, functools.partial(self._split, choice, way, use, numbers))
            for side, way in enumerate(ways)
        ]
        return fork.join(arms)

    def below(self, choice: Choice, option: int) -> Tensor:
        """Whether an earlier option is taken."""
        known = self.conditions.get(_core.value_id(choice.index))
        if option == 1 and known is not None and self.trace.sees(known):
            return known
        condition = ops.less(choice.index, Tensor(option, _core.int32))
        self.decide(condition, choice.index, set(range(option)), len(choice.options))
        return condition

    def split_arguments(self, args: list, kwargs: dict, use: Callable[[list, dict], Any]) -> Any:
        """A call of something that cannot take a Choice, in a branch for each option."""
        choice = first((args, kwargs), Choice)
        if choice is None:
            return use(args, kwargs)

        def call(option: Any) -> Any:
            chosen_args, chosen_kwargs = exchanged((args, kwargs), choice, option)
            return self.split_arguments(chosen_args, chosen_kwargs, use)

        return self.split(choice, call)

    def defined(self, name: str, value: Choice) -> Any:
        """A variable that some ways leave without a value: reading it there raises when the graph runs."""
        value = self.resolve(value)
        if not isinstance(value, Choice):
            return value
        allowed = self.allowed(value)
        missing = [i for i in allowed if isinstance(value.options[i], Undefined)]
        if not missing:
            return value
        text = f"the variable '{name}' has no single value here: {value.options[missing[0]].reason}"
        there = set(allowed) - set(missing)
        condition = ops.not_equal(value.index, missing[0])
        for i in missing[1:]:
            condition = ops.logical_and(condition, ops.not_equal(value.index, i))
        if len(value.options) == 2:
            condition = self.below(value, 1) if there == {0} else condition
        error, frame = UnboundLocalError(text), self.places[-1][0]
        note_expression(error, frame, frame.name)
        self.require(condition, error)
        self.limits.append((_core.value_id(value.index), frozenset(there)))
        return self.resolve(value)

    # ---- sequences indexed by a tensor ----------------------------------------------------------------------------------
    def item_at(self, items: Any, index: Tensor) -> Any:
        """`items[index]`, as Python counts: from the end where negative, an IndexError beyond."""
        kind = type(items).__name__
        if index.size != 1 or index.dtype not in INTEGERS:
            raise program_error(
                TypeError,
                f"{kind} indices must be integers or tensors of one integer, but got {index.dtype}{list(index.shape)}",
            )
        values, count = list(items), len(items)
        index = ops.reshape(ops.cast(index, _core.int64), ())
        self.require(
            ops.logical_and(ops.greater_equal(index, -count), ops.less(index, count)),
            IndexError(f"{kind} index out of range"),
        )
        index = pick(ops.less(index, 0), ops.add(index, count), index)
        first = values[0]
        if all(same_type(first, v) for v in values):
            item = ops.stack(values)[index]
            return _core.op("Number")(item) if _core.is_weak(first) else item
        choice = Choice(ops.cast(index, _core.int32), values)
        if all(type(v) is type(first) and (is_number(v) or isinstance(v, bool)) for v in values):
            table = Tensor(values, dtype_of(first))
            number = _core.op("Number")(table[index])  # a number of Python, as the items are
            self.numbers[_core.value_id(number)] = choice
            return number
        return choice

    def require(self, condition: Tensor, error: Exception) -> None:
        """Raises when the graph runs and the condition does not hold."""

        def fail() -> None:
            note_raised(error)
            raise error

        fork = Fork(self.whole, self.places[-1][0], condition)
        fork.join([fork.arm(0, lambda: None), fork.arm(1, fail)])


def is_sequence(value: Any) -> bool:
    """What a tensor can index to choose an item: a tuple, list or list of cells."""
    cells = isinstance(value, _late.cell_class) and hasattr(type(value), "__len__")
    return cells or isinstance(value, (tuple, list))
