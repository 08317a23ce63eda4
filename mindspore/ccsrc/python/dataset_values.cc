// See dataset_values.h.
#include "python/dataset_values.h"

#include <unistd.h>

#include <cstring>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "base/mutex.h"
#include "python/convert.h"
#include "python/dtype_object.h"
#include "python/tensor_object.h"

namespace ms::python {
namespace py = pybind11;
using dataset::Element;
using dataset::Kind;
using dataset::Value;

namespace {

// Smaller arrays are copied: that costs less than keeping the other one.
constexpr size_t kSmall = 4096;

struct Released {
  Mutex mutex;
  std::vector<PyObject*> objects;
};
Released& TheReleased() {
  static auto* released = new Released;  // values may outlive static objects
  return *released;
}

std::optional<Element> ElementFromNumpy(const py::dtype& dtype) {
  auto size = static_cast<uint32_t>(dtype.itemsize());
  auto number = [&](std::initializer_list<DType> choices) -> std::optional<Element> {
    for (DType choice : choices) {
      if (ItemSize(choice) == size) return Element::Of(choice);
    }
    return std::nullopt;
  };
  switch (dtype.kind()) {
    case 'b':
      return Element::Of(DType::kBool);
    case 'i':
      return number({DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64});
    case 'u':
      return number({DType::kUInt8, DType::kUInt16, DType::kUInt32, DType::kUInt64});
    case 'f':
      return number({DType::kFloat16, DType::kFloat32, DType::kFloat64});
    case 'c':
      return number({DType::kComplex64, DType::kComplex128});
    case 'U':
      return Element{Kind::kText, DType::kUInt8, size};
    case 'S':
      return Element{Kind::kBytes, DType::kUInt8, size};
    default:
      break;
  }
  DType found;
  if (dtype.kind() == 'V' && DTypeFromNumpy(dtype, &found)) return Element::Of(found);
  return std::nullopt;
}

// Of text, NumPy has a type for each width, which takes as long to name as an array takes to make.
py::dtype TextFromElement(const Element& element) {
  constexpr size_t kMost = 256;
  static auto* known = new std::unordered_map<uint64_t, PyObject*>;
  bool wide = element.kind == Kind::kText;
  uint64_t key = uint64_t{element.size} << 1 | (wide ? 1 : 0);
  auto found = known->find(key);
  if (found != known->end()) return py::reinterpret_borrow<py::dtype>(found->second);
  py::dtype made((wide ? "U" : "S") + std::to_string(wide ? element.size / 4 : element.size));
  if (known->size() < kMost) known->emplace(key, py::object(made).release().ptr());
  return made;
}

py::dtype NumpyFromElement(const Element& element) {
  if (element.text()) return TextFromElement(element);
  static auto* known = new std::array<PyObject*, kDTypeCount>();
  PyObject*& dtype = (*known)[static_cast<size_t>(element.dtype)];
  if (!dtype) dtype = NumpyDType(element.dtype).release().ptr();
  return py::reinterpret_borrow<py::dtype>(dtype);
}

Value Opaque(py::object object) { return Value::Opaque(Held(std::move(object))); }

// Nobody else can write to it: only the caller's container refers to it, and it owns its memory.
bool Sole(const py::array& array, bool fresh) {
  if (fresh) return true;
  bool owns = (array.flags() & py::detail::npy_api::NPY_ARRAY_OWNDATA_) != 0;
  return owns && Py_REFCNT(array.ptr()) <= 2;
}

}  // namespace

std::shared_ptr<const void> Held(py::object object) {
  return {object.release().ptr(), [](const void* pointer) {
            Released& released = TheReleased();
            std::lock_guard lock(released.mutex);
            released.objects.push_back(static_cast<PyObject*>(const_cast<void*>(pointer)));
          }};
}

void DropReleased() {
  Released& released = TheReleased();
  std::vector<PyObject*> objects;
  {
    std::lock_guard lock(released.mutex);
    objects.swap(released.objects);
  }
  for (PyObject* object : objects) Py_DECREF(object);
}

namespace {

bool Finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

}  // namespace

WithGil::WithGil() : state_(PyGILState_GetThisThreadState()) {
  static auto* noting = new Mutex;  // threads may still run when static objects are gone
  if (!state_) {
    std::lock_guard lock(*noting);
    state_ = PyThreadState_New(PyInterpreterState_Main());
    noted_ = true;
  }
  had_ = !noted_ && PyGILState_Check() != 0;
  // A worker that comes for the GIL at the end of the interpreter would be ended in the middle of
  // functions that catch what they cannot know: the end of the process is near.
  while (noted_ && Finalizing()) pause();
  if (!had_) PyEval_RestoreThread(state_);
}

WithGil::~WithGil() {
  if (noted_) {
    PyThreadState_Clear(state_);
    PyThreadState_DeleteCurrent();
  } else if (!had_) {
    PyEval_SaveThread();
  }
}

py::array InNativeOrder(const py::array& array) {
  if (array.dtype().byteorder() != '>') return array;
  return array.attr("astype")(array.dtype().attr("newbyteorder")("=")).cast<py::array>();
}

namespace {

Value FromPython(py::handle object, bool borrow) {
  if (!py::isinstance<py::array>(object)) {
    return Opaque(py::reinterpret_borrow<py::object>(object));
  }
  auto array = py::reinterpret_borrow<py::array>(object);
  py::dtype dtype = array.dtype();
  std::optional<Element> element = ElementFromNumpy(dtype);
  if (!element) return Opaque(std::move(array));
  bool fresh = false;
  py::array native = InNativeOrder(array);
  if (!native.is(array)) {
    array = std::move(native);
    fresh = true;
  }
  auto dims = dataset::MakeDims(dataset::Dims(array.shape(), array.shape() + array.ndim()));
  if ((array.flags() & py::array::c_style) == 0) {
    py::array dense =
        py::module_::import("numpy").attr("ascontiguousarray")(array).cast<py::array>();
    array = std::move(dense);
    fresh = true;
  }
  auto bytes = static_cast<size_t>(array.nbytes());
  Value value;
  bool borrowed = borrow && !fresh;
  if (!borrowed && (bytes <= kSmall || !Sole(array, fresh))) {
    value = Value::Make(*element, std::move(dims));
    if (bytes) std::memcpy(value.memory(), array.data(), bytes);
    return value;
  }
  value.element = *element;
  value.dims = std::move(dims);
  value.data = static_cast<const std::byte*>(array.data());
  value.borrowed = borrowed;
  if (!borrowed) value.owner = Held(std::move(array));
  return value;
}

}  // namespace

Value ValueFromPython(py::handle object) { return FromPython(object, false); }

Value BorrowedFromPython(py::handle object) { return FromPython(object, true); }

namespace {

// An array on the memory, or without it on memory of its own. Not pybind11's way, which makes
// strides first, and copies from another array.
py::object NewArray(const Value& value, void* memory) {
  static_assert(sizeof(Py_intptr_t) == sizeof(int64_t));
  const auto& numpy = py::detail::npy_api::get();
  PyObject* array = numpy.PyArray_NewFromDescr_(
      numpy.PyArray_Type_, NumpyFromElement(value.element).release().ptr(),
      static_cast<int>(value.dims->size()),
      reinterpret_cast<const Py_intptr_t*>(value.dims->data()), nullptr, memory,
      memory ? py::detail::npy_api::NPY_ARRAY_WRITEABLE_ : 0, nullptr);
  if (!array) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(array);
}

py::object CopiedArray(const Value& value) {
  py::object array = NewArray(value, nullptr);
  size_t bytes = value.bytes();
  if (bytes) std::memcpy(py::detail::array_proxy(array.ptr())->data, value.data, bytes);
  return array;
}

// On memory of ours, which the array keeps.
py::object ArrayOnBuffer(const Value& value) {
  py::capsule keeper(new BufferRef(value.buffer),
                     [](void* buffer) { delete static_cast<BufferRef*>(buffer); });
  py::object array = NewArray(value, const_cast<std::byte*>(value.data));
  const auto& numpy = py::detail::npy_api::get();
  if (numpy.PyArray_SetBaseObject_(array.ptr(), keeper.release().ptr()) < 0) {
    throw py::error_already_set();
  }
  return array;
}

}  // namespace

py::object ArrayFromValue(const Value& value) {
  if (value.opaque()) {
    auto* object = static_cast<PyObject*>(const_cast<void*>(value.owner.get()));
    return py::reinterpret_borrow<py::object>(object);
  }
  if (value.borrowed || value.bytes() <= kSmall) return CopiedArray(value);
  if (value.owner) {
    auto* object = static_cast<PyObject*>(const_cast<void*>(value.owner.get()));
    return py::array(NumpyFromElement(value.element), *value.dims, value.data,
                     py::reinterpret_borrow<py::object>(object));
  }
  return ArrayOnBuffer(value);
}

py::object TensorFromValue(const Value& value) {
  if (value.element.kind != Kind::kNumber) return ArrayFromValue(value);
  Shape shape(Ints(value.dims->begin(), value.dims->end()));
  if (value.owner && !value.borrowed) {
    PyObject* tensor = NewTensor(TensorFromArray(ArrayFromValue(value).cast<py::array>(), false));
    AsTensor(tensor)->shared = true;
    return py::reinterpret_steal<py::object>(tensor);
  }
  auto wrapped = [](Tensor tensor) {
    return py::reinterpret_steal<py::object>(NewTensor(std::move(tensor)));
  };
  if (value.buffer && !value.borrowed && value.data == value.memory()) {
    return wrapped(Tensor(value.element.dtype, shape, value.buffer));
  }
  Tensor copy(value.element.dtype, shape);
  if (value.bytes()) std::memcpy(copy.raw(), value.data, value.bytes());
  return wrapped(std::move(copy));
}

py::tuple ArraysFromValues(const std::vector<Value>& values) {
  py::tuple arrays(values.size());
  for (size_t i = 0; i < values.size(); ++i) arrays[i] = ArrayFromValue(values[i]);
  return arrays;
}

std::vector<Value> ValuesFromPython(py::handle sequence) {
  // Not py::sequence, whose items come with a reference of their own: see Sole.
  auto items = py::reinterpret_steal<py::object>(
      PySequence_Fast(sequence.ptr(), "a row must be a tuple or a list"));
  if (!items) throw py::error_already_set();
  std::vector<Value> values;
  Py_ssize_t size = PySequence_Fast_GET_SIZE(items.ptr());
  values.reserve(static_cast<size_t>(size));
  for (Py_ssize_t i = 0; i < size; ++i) {
    values.push_back(ValueFromPython(PySequence_Fast_GET_ITEM(items.ptr(), i)));
  }
  return values;
}

}  // namespace ms::python
