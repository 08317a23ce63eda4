"""Machine code for generated kernels: llvmlite compiles the LLVM text that the core writes, on a thread of its own.

Until the code of a kernel is there, the core interprets it. Code is kept on disk, keyed by its text, the processor and the
versions of everything that made it. llvmlite is imported when the first kernel asks for code; without it all kernels are
interpreted. `MS_KERNEL_CACHE` names the folder of the disk cache, and empty it means that there is none.
"""

from __future__ import annotations

import atexit
import hashlib
import importlib.util
import os
import threading
import time
from collections import deque
from typing import Any

from mindspore import _core, tuning
from mindspore._kernel_cache import KernelCache

_OLDEST_LLVM = 20  # whose text generated kernels are written in
_OPT_LEVEL = 2
_TUNING_PAUSE = 0.02  # seconds until tuners may want another code
_SAVING_PAUSE = 5.0  # between two additions to the file of tunings


class _Compiler:
    """llvmlite, set up for this processor. One thread at a time."""

    def __init__(self) -> None:
        import llvmlite
        from llvmlite import binding

        if binding.llvm_version_info[0] < _OLDEST_LLVM:
            raise RuntimeError(
                f"generated kernels need llvmlite 0.45 or newer (LLVM {_OLDEST_LLVM}), but got {llvmlite.__version__}"
            )
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        self._llvm = binding
        name, features = _processor(binding)
        self._machine = binding.Target.from_default_triple().create_target_machine(
            cpu=name, features=features, opt=_OPT_LEVEL, jit=True
        )
        version = ".".join(map(str, binding.llvm_version_info))
        triple = self._machine.triple  # folders may be shared by machines of several kinds
        # Without F16C there would be calls of functions that no library here has.
        known = not triple.startswith("x86") or name == _LEVELS["avx2"]
        self._has_halves = known or "+f16c" in features
        self._identity = (
            f"{llvmlite.__version__} {version} {_OPT_LEVEL} {triple} {name} {features}\n"
        )
        self._cache = KernelCache()
        self._engines: list[Any] = []  # the code lives as long as they do

    def addresses(self, text: str, phases: int) -> list[int]:
        """Where the functions phase0, phase1, ... of a module are, after compiling or reading it."""
        if not self._has_halves and "half" in text:
            raise ValueError("the processor has no instructions for Float16")
        key = hashlib.sha256((self._identity + text).encode()).hexdigest()[:40]
        binary = self._cache.read(key)
        if binary is None:
            binary = self._compile(text)
            self._cache.write(key, binary)
        return self._load(binary, phases)

    def _compile(self, text: str) -> bytes:
        llvm = self._llvm
        module = llvm.parse_assembly(text)
        options = llvm.create_pipeline_tuning_options(speed_level=_OPT_LEVEL)
        options.loop_vectorization = options.slp_vectorization = False
        options.loop_interleaving = options.loop_unrolling = False
        builder = llvm.create_pass_builder(self._machine, options)
        passes = llvm.create_new_module_pass_manager()
        for add in ("sroa", "loop_rotate", "simplify_cfg"):
            getattr(passes, f"add_{add}_pass")()
        passes.run(module, builder)
        return self._machine.emit_object(module)

    def _load(self, binary: bytes, phases: int) -> list[int]:
        llvm = self._llvm
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), self._machine)
        engine.add_object_file(llvm.ObjectFileRef.from_data(binary))
        engine.finalize_object()
        self._engines.append(engine)
        found = [engine.get_function_address(f"phase{i}") for i in range(phases)]
        if not all(found):
            raise ValueError("the object lacks a function")
        return found


# What LLVM may use of a processor where MS_MAX_ISA says so (backends/cpu/isa.h).
_LEVELS = {"base": "x86-64", "avx2": "x86-64-v3"}


def _processor(llvm: Any) -> tuple[str, str]:
    """Name and features of the processor that code is for."""
    if _core.assembler.is_limited:
        return _LEVELS[_core.assembler.instruction_set], ""
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


class Assembler:
    """Takes codes in the order of their submission and compiles them one by one; when there are none, those that tuning
    wants to try."""

    def __init__(self) -> None:
        self._jobs: deque[Any] = deque()
        self._wanted = threading.Event()
        self._working = threading.Lock()  # held while one code is made; a fork waits for it
        self._thread: threading.Thread | None = None
        self._compiler: _Compiler | None = None
        self._unusable = ""  # why there can be no compiler
        self._taking = threading.RLock()  # what was submitted before stop() is settled by it
        self._stopped = False
        self._saved = 0.0

    def submit(self, code: Any) -> None:
        """Queues a `_core.assembler.MachineCode`."""
        with self._taking:
            if not self._stopped:
                self._jobs.append(code)
                self._start()
                return
        code.fail("the program is ending")

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="ms-assembler", daemon=True)
            self._thread.start()
        self._wanted.set()

    def stop(self) -> None:
        """Ends the thread after the code it is making: native code must not run while the process is torn down."""
        with self._taking:
            self._stopped = True
            self._wanted.set()
            thread, self._thread = self._thread, None
        try:
            if thread is not None:
                thread.join(timeout=10)
        finally:
            while self._jobs:
                self._jobs.popleft().fail("the program is ending")
            tuning.save()

    def wake(self) -> None:
        """Lets the thread see a new budget of tuning."""
        self._wanted.set()

    def before_fork(self) -> None:
        """Waits until no code is being made."""
        self._taking.acquire()
        self._working.acquire()

    def after_fork(self, child: bool) -> None:
        """Lets the thread go on; a child has none and starts its own."""
        self._working.release()
        if child:
            _core.assembler.set_tuning_budget(0)
            self._wanted, self._thread = threading.Event(), None
            if self._jobs:
                self._start()
        self._taking.release()

    def _run(self) -> None:
        while not self._stopped:
            tuning_goes_on = _core.assembler.tuning_budget() > 0
            self._wanted.wait(_TUNING_PAUSE if tuning_goes_on else None)
            self._wanted.clear()
            while not self._stopped and (self._jobs or self._try_tuning()):
                with self._working:
                    if self._jobs:
                        self._make(self._jobs.popleft())

    def _try_tuning(self) -> bool:
        """Makes one code for tuning; whether there was one to make."""
        if _core.assembler.tuning_budget() <= 0:
            return False
        with self._working:
            code = _core.assembler.next_tuning_trial()
            if code is None:
                self._save_tunings()
                return False
            began = time.thread_time()
            self._make(code)
            _core.assembler.spend_tuning(time.thread_time() - began)
        return True

    def _save_tunings(self) -> None:
        if time.monotonic() > self._saved + _SAVING_PAUSE:
            self._saved = time.monotonic()
            tuning.save()

    def _make(self, code: Any) -> None:
        try:
            code.give(self._ready().addresses(code.text, code.phases))
        except Exception as error:
            code.fail(f"{type(error).__name__}: {error}")

    def _ready(self) -> _Compiler:
        """The compiler. An llvmlite that cannot be used is tried once: the attempt may take long."""
        if self._unusable:
            raise RuntimeError(self._unusable)
        if self._compiler is None:
            try:
                self._compiler = _Compiler()
            except Exception as error:
                self._unusable = f"{type(error).__name__}: {error}"
                raise
        return self._compiler


def install() -> None:
    """Makes generated kernels possible where llvmlite is installed."""
    if importlib.util.find_spec("llvmlite") is None:
        return
    assembler = Assembler()
    atexit.register(assembler.stop)
    os.register_at_fork(
        before=assembler.before_fork,
        after_in_parent=lambda: assembler.after_fork(child=False),
        after_in_child=lambda: assembler.after_fork(child=True),
    )
    _core.assembler.set(assembler.submit)
    tuning.on_budget(assembler.wake)
    tuning.load()
    budget = os.environ.get("MS_TUNE_BUDGET")
    if budget:
        tuning.set_budget(tuning.seconds_of(budget, "MS_TUNE_BUDGET"))
