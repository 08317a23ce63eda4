"""A loop of the graph: `loop(carried) = condition(carried) ? body(carried) : carried`, where body ends by calling loop. What is
carried is found by parsing the body until the types of its variables repeat."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.compile.errors import Unsupported
from mindspore.compile.values import NUMBERS, Undefined, children, copy_environment, rebuild

_MAX_ROUNDS = 8


class _Retry(Exception):
    """The body showed that more must be carried, or with another type."""


class GraphLoop:
    """Builds one loop for a frame."""

    def __init__(self, frame: Any, node: Any, test: Callable, enter: Callable, names: set[str]):
        self.frame, self.node, self.test, self.enter = frame, node, test, enter
        self.tracer, self.trace = frame.tracer, frame.tracer.trace
        self.names = sorted(
            n for n in names if n in frame.env and not isinstance(frame.env[n], Undefined)
        )
        self.unknown = {n for n in names if n not in self.names}
        self.dtypes: dict[tuple, Any] = {}  # leaves that must be tensors, with their dtypes
        self.parameters: list[Any] = []  # Parameters that the body assigns
        self.start = {n: frame.env[n] for n in self.names}

    def build(self) -> None:
        env, environment = self.frame.env, self.trace.environment()
        for _ in range(_MAX_ROUNDS):
            try:
                self._attempt(env)
                return
            except _Retry:
                self.frame.env = env
                self.trace.restore(environment)
        raise Unsupported(
            "the types of the variables of this loop change in every round, but they must stay the same"
        )

    # ---- one round --------------------------------------------------------------------------------------------------
    def _attempt(self, env: dict) -> None:
        frame, trace = self.frame, self.trace
        initial: list = []
        for name in self.names:
            self._carried_leaves((name,), self.start[name], initial)
        before = [trace.lift(p) for p in self.parameters]
        initial = [self._as_tensor(leaf) for leaf in initial]
        environment = trace.environment()
        loop = trace.begin("loop")
        inputs = [trace.add_parameter(t.dtype, list(t.shape)) for t in initial]
        frame.env = copy_environment(env)
        self._bind(inputs)
        for parameter, value in zip(self.parameters, before):
            new = trace.add_parameter(value.dtype, list(value.shape))
            inputs.append(new)
            trace.set_parameter(parameter, new)
        try:
            condition = self._condition()
            at_head = trace.environment()
            body, final, changed = self._trace_body(at_head)
            results = self._next_values(final, changed)
        except _Retry:
            trace.suspend()
            raise
        self._finish(loop, body, condition, inputs, results)
        trace.restore(environment)
        self._use(loop, env, initial + before)

    def _condition(self) -> Any:
        test = self.test()
        if not self.tracer.is_traced(test):
            raise Unsupported(
                "the condition of this loop is a tensor at first and a Python value later"
            )
        condition = self.tracer.truth(test)
        broken = self.frame.env.get("$broken", False)
        if broken is False:
            return condition
        from mindspore import ops

        return ops.logical_and(ops.logical_not(broken), condition)

    def _trace_body(self, at_head: list) -> tuple[Any, dict, list]:
        frame, trace = self.frame, self.trace
        body = trace.begin("body")
        stack = frame.stack
        try:
            frame.env = copy_environment(frame.env)
            frame.stack = [("loop",), ("block", self.node.body, 0)]
            self.enter()
            frame.run(0)
            return body, frame.env, trace.changed_since(at_head)
        finally:
            frame.stack = stack
            trace.suspend()

    # ---- what is carried --------------------------------------------------------------------------------------------
    def _carried_leaves(self, path: tuple, value: Any, out: list) -> None:
        if isinstance(value, Tensor) or path in self.dtypes:
            out.append((value, self.dtypes.get(path)))
            return
        for i, item in enumerate(children(value) or ()):
            self._carried_leaves(path + (i,), item, out)

    def _as_tensor(self, leaf: tuple) -> Tensor:
        from mindspore import ops

        value, dtype = leaf
        if not isinstance(value, Tensor):
            return Tensor(value, dtype)
        return ops.cast(value, dtype) if dtype is not None and value.dtype is not dtype else value

    def _bind(self, inputs: list) -> None:
        """Variables inside the loop stand for its parameters."""
        items = iter(inputs)

        def place(path: tuple, value: Any) -> Any:
            if isinstance(value, Tensor) or path in self.dtypes:
                return next(items)
            parts = children(value)
            return (
                value
                if parts is None
                else rebuild(value, [place(path + (i,), p) for i, p in enumerate(parts)])
            )

        for name in self.names:
            self.frame.env[name] = place((name,), self.start[name])

    def _next_values(self, final: dict, changed: list) -> list:
        """What the body passes to the next round, in the order of the parameters; _Retry where that order must change."""
        retry = False
        for flag in ("$broken", "$returned", "$value"):
            if flag in final and flag not in self.names:
                from mindspore.compile.flow import placeholder

                self.names.append(flag)
                self.start[flag] = placeholder(final[flag]) if flag == "$value" else False
                retry = True
        known = {id(p) for p in self.parameters}
        for parameter, _ in changed:
            if id(parameter) not in known:
                self.parameters.append(parameter)
                retry = True
        results: list = []
        for name in self.names:
            if name in final:
                retry |= self._compare((name,), self.start[name], final[name], results)
        if retry:
            raise _Retry
        values = {id(p): v for p, v in changed}
        return results + [values.get(id(p), p) for p in self.parameters]

    def _compare(self, path: tuple, start: Any, value: Any, results: list) -> bool:
        """Appends what the next round gets for one variable; True when its type at the head must change."""
        if isinstance(value, Undefined):
            raise Unsupported(
                f"the variable '{path[0]}' has no single value at the end of the loop: {value.reason}"
            )
        if isinstance(start, Tensor) or path in self.dtypes:
            return self._compare_tensor(path, start, value, results)
        if isinstance(value, Tensor) or (isinstance(start, NUMBERS) and isinstance(value, NUMBERS)):
            if not isinstance(value, Tensor) and type(value) is type(start) and value == start:
                return False
            if not isinstance(start, NUMBERS) or (isinstance(value, Tensor) and value.shape != ()):
                self._refuse(path, start, value)
            other = value.dtype if isinstance(value, Tensor) else type(value)
            self.dtypes[path] = _core.promote(
                type(start), True, other, not isinstance(value, Tensor)
            )
            return True
        parts, news = children(start), children(value)
        if (
            parts is not None
            and news is not None
            and type(start) is type(value)
            and len(parts) == len(news)
        ):
            # Every item must be compared: each appends its results.
            changed = [
                self._compare((*path, i), a, b, results)
                for i, (a, b) in enumerate(zip(parts, news))
            ]
            return any(changed)
        if start is value or (type(start) is type(value) and start == value):
            return False
        return self._refuse(path, start, value)

    def _compare_tensor(self, path: tuple, start: Any, value: Any, results: list) -> bool:
        dtype = self.dtypes.get(path) or start.dtype
        shape = tuple(start.shape) if isinstance(start, Tensor) else ()
        if isinstance(value, Tensor):
            if tuple(value.shape) != shape:
                self._refuse(path, start, value)
            if value.dtype is not dtype:
                if (
                    path in self.dtypes
                    and _core.promote(dtype, False, value.dtype, False) is value.dtype
                ):
                    self.dtypes[path] = value.dtype
                    return True
                self._refuse(path, start, value)
        elif not isinstance(value, NUMBERS) or shape != ():
            self._refuse(path, start, value)
        results.append((value, dtype))
        return False

    def _refuse(self, path: tuple, start: Any, value: Any) -> bool:
        def text(v: Any) -> str:
            return (
                f"{v.dtype}{list(v.shape)}"
                if isinstance(v, Tensor)
                else (repr(v) if isinstance(v, NUMBERS) else type(v).__name__)
            )

        name = path[0] if not str(path[0]).startswith("$") else "the returned value"
        raise TypeError(
            f"the variable '{name}' of a loop that a tensor decides must keep its type, but it is {text(start)} before "
            f"and {text(value)} after a round; make it a tensor of one shape and dtype before the loop"
        )

    # ---- the graphs -------------------------------------------------------------------------------------------------
    def _finish(self, loop: Any, body: Any, condition: Any, inputs: list, results: list) -> None:
        trace = self.trace
        trace.declare_outputs(loop, inputs)
        done = trace.begin("done")
        trace.end(inputs)
        trace.resume(body)
        values = [self._as_tensor(r) if isinstance(r, tuple) else r for r in results]
        trace.end(trace.call(trace.partial(loop), values))
        function = trace.switch(condition, trace.partial(body), trace.partial(done))
        trace.end(trace.call(function, []))
        trace.tag_loop(loop, body, done, -1)

    def _use(self, loop: Any, env: dict, initial: list) -> None:
        frame, trace = self.frame, self.trace
        outputs = trace.call(trace.partial(loop), initial)
        frame.env = env
        self._bind(outputs)
        for name in self.unknown:
            if name not in ("$broken", "$returned", "$value"):
                frame.env[name] = Undefined(
                    "it is first assigned inside a loop that a tensor decides"
                    + self.tracer.place_text(frame)
                )
        for parameter, value in zip(
            self.parameters,
            outputs[len(outputs) - len(self.parameters) :] if self.parameters else [],
        ):
            trace.set_parameter(parameter, value)
