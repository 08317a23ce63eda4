// While Python ends, it ends a daemon's thread that asks for the GIL by unwinding its stack. Frames
// of C++ do not survive that: destructors may not throw, and drop references without the GIL. So
// such a thread sleeps as soon as the first of them is reached, until the process is gone.
//
// The linker puts this in place of the function that unwinding asks about each frame of this
// module (cmake/PythonModule.cmake). Python's way out is the only unwinding by force there is.
#include <unistd.h>
#include <unwind.h>

extern "C" {

_Unwind_Reason_Code __real___gxx_personality_v0(int version, _Unwind_Action actions,
                                                _Unwind_Exception_Class kind,
                                                _Unwind_Exception* exception,
                                                _Unwind_Context* context);

_Unwind_Reason_Code __wrap___gxx_personality_v0(int version, _Unwind_Action actions,
                                                _Unwind_Exception_Class kind,
                                                _Unwind_Exception* exception,
                                                _Unwind_Context* context) {
  while (actions & _UA_FORCE_UNWIND) pause();
  return __real___gxx_personality_v0(version, actions, kind, exception, context);
}

}  // extern "C"
