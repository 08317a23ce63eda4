"""Control flow that a tensor decides. A branch becomes Call(Switch(condition, then, else)): each arm runs the rest of the region
that its exits (return, break, continue) may leave, in a graph of its own, and what differs afterwards is joined. A loop becomes
a graph that calls itself in tail position with the values it carries."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from mindspore._core import Tensor
from mindspore.compile.effects import emit_raise
from mindspore.compile.errors import Unsupported
from mindspore.compile.loops import GraphLoop
from mindspore.compile.values import Join, Mismatch, Undefined, copy_environment, materialise

RAISED = object()  # the signal of an arm that ends in an exception
# Variables of the front end itself: a loop in the graph was left by break, by return, and with which value.
BROKEN, RETURNED, VALUE = "$broken", "$returned", "$value"


class Arm:
    """One way through a region: its graph, and what held at its end."""

    def __init__(self, graph: Any, env: dict, signal: Any, parameters: list, changed: list):
        self.graph, self.env, self.signal, self.parameters = graph, env, signal, parameters
        self.changed = {id(p): (p, v) for p, v in changed}


class Flow:
    """Mixin of Frame."""

    def tensor_if(self, node: ast.If, test: Any) -> Any:
        base = self._region(node)
        arms = [lambda: self._run_arm(node.body, base), lambda: self._run_arm(node.orelse, base)]
        env, stack, parameters = self.env, list(self.stack), self.tracer.trace.environment()
        try:
            return self._branch(test, arms, base)
        except Unsupported as reason:
            if self.tracer.session is None or not self.tracer.session.possible():
                raise
            self.env, self.stack = env, stack
            self.tracer.trace.restore(parameters)
            taken = self.tracer.session.call(reason, bool, [test], {}, True)
            self._push(node.body if taken else node.orelse)
            return None

    def choose_expression(self, node: ast.IfExp, test: Any) -> Any:
        """`a if tensor else b`."""
        self._branch(
            test,
            [lambda: self._name_choice(node.body), lambda: self._name_choice(node.orelse)],
            len(self.stack),
        )
        chosen = self.env.pop("$choice")
        if isinstance(chosen, Undefined):
            raise TypeError(
                "the two values of a conditional expression that a tensor decides must have the same types, but "
                + chosen.reason
            )
        return chosen

    def _name_choice(self, node: ast.expr) -> None:
        self.env["$choice"] = self.eval(node)

    def _run_arm(self, statements: list[ast.stmt], base: int) -> Any:
        self._push(statements)
        return self.run(base)

    # ---- regions ----------------------------------------------------------------------------------------------------
    def _region(self, node: ast.If) -> int:
        """How much of the stack both arms run: up to the outermost place that one of them may jump to."""
        exits = find_exits(node.body + node.orelse)
        base = len(self.stack)
        loop = max((i for i, item in enumerate(self.stack) if item[0] == "loop"), default=None)
        if "return" in exits:
            base = 0 if loop is None else loop + 1
        for kind, keep in (("break", 0), ("continue", 1)):
            if kind in exits:
                at = max(
                    i for i, item in enumerate(self.stack) if item[0] in ("for", "while", "loop")
                )
                base = min(base, at + (1 if self.stack[at][0] == "loop" else keep))
        return base

    def _branch(self, test: Any, runners: list[Callable[[], Any]], base: int) -> Any:
        tracer = self.tracer
        if any(item[0] == "with" for item in self.stack[base:]):
            raise Unsupported("a tensor decides how a 'with' block is left")
        condition = tracer.truth(test)
        env, stack, parameters = self.env, list(self.stack), tracer.trace.environment()
        place = self.node
        arms = []
        for name, runner in zip(("then", "else"), runners):
            self.env, self.stack = copy_environment(env), list(stack)
            arms.append(self._trace_arm(name, runner, parameters))
        self.env, self.stack = env, stack[:base]
        tracer.mark(self, place)
        self._complete_raised(arms)
        if base == 0 and any(arm.signal is not None for arm in arms):
            values = [None if arm.signal is None else arm.signal.value for arm in arms]
            return self.leave(self._join_values(condition, arms, values, parameters))
        self._join_environments(condition, arms, parameters)
        return None

    def _trace_arm(self, name: str, runner: Callable[[], Any], parameters: list) -> Arm:
        trace = self.tracer.trace
        trace.restore(parameters)
        graph = trace.begin(name)
        depth = trace.depth
        self.tracer.arms += 1
        try:
            signal = self._run_or_raise(runner, depth)
            arm = Arm(graph, self.env, signal, trace.environment(), trace.changed_since(parameters))
        finally:
            self.tracer.arms -= 1
            while trace.depth >= depth:
                trace.suspend()
            trace.restore(parameters)
        return arm

    def _run_or_raise(self, runner: Callable[[], Any], depth: int) -> Any:
        """The signal of an arm. An exception is raised when the graph runs and takes this arm, not before."""
        trace = self.tracer.trace
        try:
            return runner()
        except Unsupported:
            raise
        except Exception as error:
            while trace.depth > depth:
                trace.suspend()
            self.refuse_handlers("an exception")
            emit_raise(self.tracer, error)
            return RAISED

    def _complete_raised(self, arms: list[Arm]) -> None:
        """An arm that ends in an exception is given the form of the other's end."""
        raised = [arm.signal is RAISED for arm in arms]
        if all(raised):
            raise Unsupported("both ways of a condition on a tensor raise an exception")
        if not any(raised):
            return
        arm, other = arms if raised[0] else reversed(arms)
        trace = self.tracer.trace
        trace.resume(arm.graph)
        if other.signal is not None:
            arm.signal = type(other.signal)(placeholder(other.signal.value))
        arm.env = {
            name: value if value is self.env.get(name) else placeholder(value)
            for name, value in other.env.items()
        }
        trace.suspend()

    def tensor_assert(self, test: Any, fail: Callable[[], None]) -> None:
        """`assert tensor`."""
        self._branch(test, [lambda: None, fail], len(self.stack))

    # ---- joining ----------------------------------------------------------------------------------------------------
    def _join_values(self, condition: Any, arms: list[Arm], values: list, parameters: list) -> Any:
        join = Join()
        try:
            place = join.add(*values)
        except Mismatch as mismatch:
            raise Unsupported(
                f"the two branches of a condition on a tensor must return the same types, but {mismatch}"
            ) from None
        return place(self._call_arms(condition, arms, join, parameters))

    def _join_environments(self, condition: Any, arms: list[Arm], parameters: list) -> None:
        join = Join()
        first, second = (dict(arm.env) for arm in arms)
        self._complete_flags(first, second)
        places: dict[str, Callable[[list], Any]] = {}
        for name in {**first, **second}:
            if name not in first or name not in second:
                reason = f"it is assigned in only one branch of a condition on a tensor{self.tracer.place_text(self)}"
                self.env[name] = Undefined(reason)
                continue
            a, b = first[name], second[name]
            if isinstance(a, Undefined) or isinstance(b, Undefined):
                self.env[name] = a if isinstance(a, Undefined) else b
                continue
            try:
                places[name] = join.add(a, b)
            except Mismatch as mismatch:
                self.env[name] = Undefined(f"{mismatch}{self.tracer.place_text(self)}")
        outputs = self._call_arms(condition, arms, join, parameters)
        for name, place in places.items():
            self.env[name] = place(outputs)

    def _complete_flags(self, first: dict, second: dict) -> None:
        """A way that was not left by break or return carries False, and any value of the right type."""
        for one, other in ((first, second), (second, first)):
            for flag in (BROKEN, RETURNED):
                if flag in one:
                    other.setdefault(flag, False)
            if VALUE in one and VALUE not in other:
                other[VALUE] = placeholder(one[VALUE])

    def _call_arms(self, condition: Any, arms: list[Arm], join: Join, parameters: list) -> list:
        trace = self.tracer.trace
        before = {id(p): v for p, v in parameters}
        changed = {**arms[0].changed, **arms[1].changed}
        for i, arm in enumerate(arms):
            trace.resume(arm.graph)
            trace.restore(arm.parameters)
            outputs = [materialise(pair[i]) for pair in join.pairs]
            for key, (parameter, _) in changed.items():
                outputs.append(
                    arm.changed[key][1] if key in arm.changed else before.get(key, parameter)
                )
            trace.restore(arm.parameters)
            trace.end(outputs)
            trace.restore(parameters)
        function = trace.switch(
            condition, trace.partial(arms[0].graph), trace.partial(arms[1].graph)
        )
        results = trace.call(function, [])
        for (parameter, _), value in zip(changed.values(), results[len(join.pairs) :]):
            trace.set_parameter(parameter, value)
        return results[: len(join.pairs)]

    # ---- leaving ----------------------------------------------------------------------------------------------------
    def leave(self, value: Any) -> Any:
        """Ends the function, or, inside a loop in the graph, the loop: with a note of the value."""
        from mindspore.compile.frame import Return

        loop = max((i for i, item in enumerate(self.stack) if item[0] == "loop"), default=None)
        if self.unwind(0 if loop is None else loop + 1, ("leave", value)):
            return None
        if loop is None:
            return Return(value)
        self.env.update({BROKEN: True, RETURNED: True, VALUE: value})
        return None

    # ---- loops ------------------------------------------------------------------------------------------------------
    def tensor_while(self, node: ast.While) -> Any:
        return self._loop(node, lambda: self.eval(node.test), lambda: None, stored_names(node.body))

    def tensor_for(self, node: ast.For, bounds: Any) -> Any:
        counter = f"$counter{len(self.stack)}"
        self.env[counter] = (
            Tensor(bounds.start, bounds.dtype)
            if not isinstance(bounds.start, Tensor)
            else bounds.start
        )

        def enter() -> None:
            value = self.env[counter]
            self.assign(node.target, value)
            self.env[counter] = value + bounds.step

        def test() -> Any:
            value = self.env[counter]
            return value < bounds.stop if bounds.step > 0 else value > bounds.stop

        return self._loop(node, test, enter, stored_names(node.body) | {counter})

    def _loop(self, node: Any, test: Callable, enter: Callable, names: set[str]) -> Any:
        if node.orelse and find_exits(node.body) & {"break", "return"}:
            raise Unsupported(
                "'else' of a loop that a tensor decides is not supported together with 'break'"
            )
        stack = list(self.stack)
        GraphLoop(self, node, test, enter, names).build()
        self.stack = stack
        self._push(node.orelse)
        self.env.pop(BROKEN, None)
        returned = self.env.pop(RETURNED, False)
        value = self.env.pop(VALUE, None)
        if returned is False:
            return None
        loop = max((i for i, item in enumerate(self.stack) if item[0] == "loop"), default=None)
        base = 0 if loop is None else loop + 1
        return self._branch(returned, [lambda: self.leave(value), lambda: self.run(base)], base)


def placeholder(value: Any) -> Any:
    """Zeros in the form of a value that will not be used."""
    from mindspore import ops
    from mindspore.common._tree import rebuild

    return rebuild(value, lambda t: ops.zeros(tuple(t.shape), t.dtype))


def find_exits(statements: list[ast.stmt]) -> set[str]:
    """Which of return, break, continue leave these statements."""
    found: set[str] = set()

    def visit(node: ast.AST, in_loop: bool) -> None:
        if isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            return
        if isinstance(node, ast.Return):
            found.add("return")
        elif isinstance(node, (ast.Break, ast.Continue)) and not in_loop:
            found.add("break" if isinstance(node, ast.Break) else "continue")
        elif isinstance(node, (ast.For, ast.While)):
            for child in node.body:
                visit(child, True)
            for child in node.orelse:
                visit(child, in_loop)
            return
        for child in ast.iter_child_nodes(node):
            visit(child, in_loop)

    for statement in statements:
        visit(statement, False)
    return found


def stored_names(statements: list[ast.stmt]) -> set[str]:
    """Variables that these statements may assign or change."""
    names: set[str] = set()
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                root = node.value
                while isinstance(root, (ast.Subscript, ast.Attribute)):
                    root = root.value
                if isinstance(root, ast.Name):
                    names.add(root.id)
            elif (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and isinstance(node.func.value, ast.Name)
            ):
                names.add(node.func.value.id)  # a method may change its object: xs.append(y)
    return names
