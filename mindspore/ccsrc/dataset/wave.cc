// See wave.h.
#include "dataset/wave.h"

#include <algorithm>
#include <cstring>

namespace ms::dataset {
namespace {

constexpr uint16_t kIntegers = 1, kFloats = 3, kExtensible = 0xFFFE;

template <class T>
T At(std::string_view bytes, size_t place) {
  T number;
  std::memcpy(&number, bytes.data() + place, sizeof(T));
  return number;
}

struct Form {
  uint16_t kind = 0, channels = 0, bits = 0;
  uint32_t rate = 0;
};

float Sample(const Form& form, const char* bytes) {
  if (form.kind == kFloats) return At<float>({bytes, 4}, 0);
  if (form.bits == 8) return (static_cast<float>(static_cast<uint8_t>(*bytes)) - 128.0f) / 127.0f;
  int32_t number = 0;
  size_t size = form.bits / 8;
  std::memcpy(reinterpret_cast<char*>(&number) + (4 - size), bytes, size);
  number >>= 32 - form.bits;  // with its sign
  double largest = static_cast<double>((int64_t{1} << (form.bits - 1)) - 1);
  return static_cast<float>(number / largest);
}

}  // namespace

Wave DecodeWave(std::string_view bytes, const std::string& path) {
  auto fail = [&](std::string_view what) {
    Throw(ErrorKind::kRuntime, "The sound '{}' must be a WAV file, but got {}.", path, what);
  };
  if (bytes.size() < 12 || bytes.substr(0, 4) != "RIFF" || bytes.substr(8, 4) != "WAVE") {
    fail("another head");
  }
  Form form;
  for (size_t place = 12; place + 8 <= bytes.size();) {
    std::string_view name = bytes.substr(place, 4);
    size_t size = At<uint32_t>(bytes, place + 4);
    std::string_view chunk = bytes.substr(place + 8, size);
    if (chunk.size() < size && name != "data") fail("a chunk that is cut short");
    if (name == "fmt " && size >= 16) {
      form = {At<uint16_t>(chunk, 0), At<uint16_t>(chunk, 2), At<uint16_t>(chunk, 14),
              At<uint32_t>(chunk, 4)};
      if (form.kind == kExtensible && size >= 26) form.kind = At<uint16_t>(chunk, 24);
    } else if (name == "data") {
      bool known = form.kind == kIntegers && form.bits % 8 == 0 && form.bits <= 32 && form.bits;
      known = known || (form.kind == kFloats && form.bits == 32);
      if (!known || form.channels == 0) fail("samples of a form that is not supported");
      if (chunk.size() < size) fail("fewer samples than its head says");
      size_t item = form.bits / 8u, channels = form.channels, count = size / item / channels;
      Wave wave{Value::Make(Element::Of(DType::kFloat32),
                            MakeDims({form.channels, static_cast<int64_t>(count)})),
                form.rate};
      auto* out = reinterpret_cast<float*>(wave.samples.memory());
      for (size_t i = 0; i < count * channels; ++i) {
        out[i % channels * count + i / channels] = Sample(form, chunk.data() + i * item);
      }
      return wave;
    }
    place += 8 + size + size % 2;
  }
  fail("none of its samples");
  return {};
}

}  // namespace ms::dataset
