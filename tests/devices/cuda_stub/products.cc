// libcublasLt, as the stub has it: plain loops, in doubles.
#include <fmt/format.h>

#include <cstring>

#include "numbers.h"
#include "stub.h"

using namespace stub;  // NOLINT: this file is about nothing else

namespace {

struct Desc {
  int compute = 0, scale = 0;
  int32_t transpose_a = 0, transpose_b = 0, epilogue = 0;
  uint64_t bias = 0;
};
struct Matrix {  // column by column
  int type = 0;
  int64_t rows = 0, columns = 0, step = 0, stride = 0;
  int32_t batch = 1;
};
struct Wish {
  uint64_t workspace = 0;
  uint32_t alignment[4] = {256, 256, 256, 256};  // unless said otherwise
};
Handles<Desc>& Descs() {
  static auto* all = new Handles<Desc>;
  return *all;
}
Handles<Matrix>& Matrices() {
  static auto* all = new Handles<Matrix>;
  return *all;
}
Handles<Wish>& Wishes() {
  static auto* all = new Handles<Wish>;
  return *all;
}
int handle_mark;
enum { kInvalid = 7 };                 // CUBLAS_STATUS_INVALID_VALUE
constexpr uint64_t kAlgorithm = 4711;  // of the only one
constexpr size_t kNeeds = 1024;        // bytes of workspace

// All numbers of a matrix of the batch, row by row, transposed if that is asked for.
std::vector<double> Read(const Matrix& m, uint64_t address, int64_t number, bool transpose) {
  std::vector<double> all;
  const char* at = static_cast<const char*>(Open(address));
  int64_t rows = transpose ? m.columns : m.rows, columns = transpose ? m.rows : m.columns;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      int64_t place = transpose ? j + i * m.step : i + j * m.step;
      all.push_back(
          Get(at + (number * m.stride + place) * static_cast<int64_t>(SizeOf(m.type)), m.type));
    }
  }
  return all;
}

size_t Extent(const Matrix& m) {
  return static_cast<size_t>((m.batch - 1) * m.stride + (m.columns - 1) * m.step + m.rows) *
         SizeOf(m.type);
}

void Multiply(const Desc& desc, const Matrix& a, uint64_t x, const Matrix& b, uint64_t y,
              const Matrix& d, uint64_t z) {
  auto* out = static_cast<char*>(Open(z));
  for (int64_t number = 0; number < d.batch; ++number) {
    std::vector<double> left = Read(a, x, number, desc.transpose_a != 0);
    std::vector<double> right = Read(b, y, number, desc.transpose_b != 0);
    int64_t inner = desc.transpose_a ? a.rows : a.columns;
    for (int64_t i = 0; i < d.rows; ++i) {
      for (int64_t j = 0; j < d.columns; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < inner; ++k) sum += left[i * inner + k] * right[k * d.columns + j];
        size_t item = SizeOf(d.type);
        if (desc.epilogue & 4)
          sum += Get(static_cast<const char*>(Open(desc.bias)) + i * static_cast<int64_t>(item),
                     d.type);
        if (desc.epilogue & 2) sum = sum > 0 || sum != sum ? sum : 0;
        Put(out + (number * d.stride + j * d.step + i) * static_cast<int64_t>(item), d.type, sum);
      }
    }
  }
}

int CheckShapes(const Desc& desc, const Matrix& a, const Matrix& b, const Matrix& d) {
  int64_t m = desc.transpose_a ? a.columns : a.rows, k = desc.transpose_a ? a.rows : a.columns;
  int64_t k2 = desc.transpose_b ? b.columns : b.rows, n = desc.transpose_b ? b.rows : b.columns;
  bool fits = m == d.rows && n == d.columns && k == k2 && a.batch == d.batch && b.batch == d.batch;
  bool half = a.type == 2 || a.type == 14;  // whose products may be of 32 bits
  bool types = a.type == b.type && (b.type == d.type || (half && d.type == 0)) &&
               (d.type == 1) == (desc.compute == 70);
  if (fits && types) return 0;
  return Refuse(kInvalid, fmt::format("matrices do not fit: {} x {} by {} x {} to {} x {}", m, k,
                                      k2, n, d.rows, d.columns));
}

}  // namespace

STUB_ENTRY cublasLtCreate(void** handle) { return *handle = &handle_mark, 0; }
STUB_ENTRY cublasLtMatmulDescCreate(void** desc, int compute, int scale) {
  std::lock_guard lock(TheMutex());
  if (compute != 68 && compute != 70 && compute != 77)
    return Refuse(kInvalid, "an unknown type of computing");
  Desc made;
  made.compute = compute;
  made.scale = scale;
  return *desc = Descs().Add(made), 0;
}
STUB_ENTRY cublasLtMatmulDescDestroy(void* desc) {
  std::lock_guard lock(TheMutex());
  if (!Descs().Has(desc)) return Refuse(kInvalid, "no description");
  return Descs().Remove(desc), 0;
}
STUB_ENTRY cublasLtMatmulDescSetAttribute(void* desc, int attribute, const void* value,
                                          size_t size) {
  std::lock_guard lock(TheMutex());
  if (!Descs().Has(desc)) return Refuse(kInvalid, "no description");
  auto& d = *static_cast<Desc*>(desc);
  void* to = attribute == 3   ? static_cast<void*>(&d.transpose_a)
             : attribute == 4 ? static_cast<void*>(&d.transpose_b)
             : attribute == 7 ? static_cast<void*>(&d.epilogue)
             : attribute == 8 ? static_cast<void*>(&d.bias)
                              : nullptr;
  if (!to || size != (attribute == 8 ? 8u : 4u))
    return Refuse(kInvalid, fmt::format("attribute {} of {} bytes", attribute, size));
  return std::memcpy(to, value, size), 0;
}
STUB_ENTRY cublasLtMatrixLayoutCreate(void** layout, int type, uint64_t rows, uint64_t columns,
                                      int64_t step) {
  std::lock_guard lock(TheMutex());
  if (step < static_cast<int64_t>(rows)) return Refuse(kInvalid, "columns overlap");
  Matrix made;
  made.type = type;
  made.rows = static_cast<int64_t>(rows);
  made.columns = static_cast<int64_t>(columns);
  made.step = step;
  return *layout = Matrices().Add(made), 0;
}
STUB_ENTRY cublasLtMatrixLayoutDestroy(void* layout) {
  std::lock_guard lock(TheMutex());
  if (!Matrices().Has(layout)) return Refuse(kInvalid, "no layout");
  return Matrices().Remove(layout), 0;
}
STUB_ENTRY cublasLtMatrixLayoutSetAttribute(void* layout, int attribute, const void* value,
                                            size_t size) {
  std::lock_guard lock(TheMutex());
  if (!Matrices().Has(layout)) return Refuse(kInvalid, "no layout");
  auto& m = *static_cast<Matrix*>(layout);
  if (attribute == 5 && size == 4) return std::memcpy(&m.batch, value, size), 0;
  if (attribute == 6 && size == 8) return std::memcpy(&m.stride, value, size), 0;
  return Refuse(kInvalid, fmt::format("attribute {} of {} bytes", attribute, size));
}
STUB_ENTRY cublasLtMatmulPreferenceCreate(void** wish) {
  std::lock_guard lock(TheMutex());
  return *wish = Wishes().Add(), 0;
}
STUB_ENTRY cublasLtMatmulPreferenceDestroy(void* wish) {
  std::lock_guard lock(TheMutex());
  return Wishes().Remove(wish), 0;
}
STUB_ENTRY cublasLtMatmulPreferenceSetAttribute(void* wish, int attribute, const void* value,
                                                size_t size) {
  std::lock_guard lock(TheMutex());
  if (Wishes().Has(wish) && attribute >= 5 && attribute <= 8 && size == 4)
    return std::memcpy(&static_cast<Wish*>(wish)->alignment[attribute - 5], value, size), 0;
  if (!Wishes().Has(wish) || attribute != 1 || size != 8) return Refuse(kInvalid, "no preference");
  return std::memcpy(&static_cast<Wish*>(wish)->workspace, value, size), 0;
}

struct Heuristic {  // cublasLtMatmulHeuristicResult_t
  uint64_t algorithm[8];
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
};
STUB_ENTRY cublasLtMatmulAlgoGetHeuristic(void* handle, void* desc, void* a, void* b, void* c,
                                          void* d, void* wish, int wanted, Heuristic* results,
                                          int* count) {
  std::lock_guard lock(TheMutex());
  bool known = handle == &handle_mark && Descs().Has(desc) && Matrices().Has(a) &&
               Matrices().Has(b) && Matrices().Has(c) && Matrices().Has(d) && Wishes().Has(wish);
  if (!known || wanted < 1) return Refuse(kInvalid, "cublasLtMatmulAlgoGetHeuristic: a handle");
  if (int status = CheckShapes(*static_cast<Desc*>(desc), *static_cast<Matrix*>(a),
                               *static_cast<Matrix*>(b), *static_cast<Matrix*>(d)))
    return status;
  // Chips before 8.0 have neither BFloat16 nor TF32.
  constexpr int kNotSupported = 15;
  if (Chip() < 80 && (static_cast<Matrix*>(a)->type == 14 || static_cast<Desc*>(desc)->compute == 77))
    return kNotSupported;
  results[0] = {};
  results[0].algorithm[0] = kAlgorithm;
  for (int operand = 0; operand < 4; ++operand)
    results[0].algorithm[1 + operand] = static_cast<Wish*>(wish)->alignment[operand];
  results[0].workspace = kNeeds;
  return *count = 1, 0;
}
STUB_ENTRY cublasLtMatmul(void* handle, void* desc, const void* alpha, const void* x, void* a,
                          const void* y, void* b, const void* beta, const void* w, void* c, void* z,
                          void* d, const uint64_t* algorithm, void* workspace,
                          size_t workspace_bytes, void* stream) {
  std::lock_guard lock(TheMutex());
  bool known = handle == &handle_mark && Descs().Has(desc) && Matrices().Has(a) &&
               Matrices().Has(b) && Matrices().Has(c) && Matrices().Has(d) && Streams().Has(stream);
  if (!known) return Refuse(kInvalid, "cublasLtMatmul: a handle");
  Desc e = *static_cast<Desc*>(desc);
  Matrix l = *static_cast<Matrix*>(a), r = *static_cast<Matrix*>(b), o = *static_cast<Matrix*>(d);
  if (int status = CheckShapes(e, l, r, o)) return status;
  auto number = [](const void* p) { return reinterpret_cast<uint64_t>(p); };
  if (algorithm[0] != kAlgorithm) return Refuse(kInvalid, "cublasLtMatmul: no algorithm");
  if (workspace_bytes < kNeeds || !Holds(number(workspace), workspace_bytes))
    return Refuse(kInvalid, "cublasLtMatmul: too little workspace");
  if (!Holds(number(x), Extent(l)) || !Holds(number(y), Extent(r)) || !Holds(number(z), Extent(o)))
    return Refuse(kInvalid, "cublasLtMatmul goes beyond a block");
  if (number(x) % algorithm[1] || number(y) % algorithm[2] || number(z) % algorithm[4])
    return Refuse(kInvalid, "cublasLtMatmul: the algorithm is for other alignments");
  Count(e.compute == 77 ? "products with tf32" : "products");
  bool wide = o.type == 1;
  double one = wide ? *static_cast<const double*>(alpha) : *static_cast<const float*>(alpha);
  double none = wide ? *static_cast<const double*>(beta) : *static_cast<const float*>(beta);
  if (one != 1 || none != 0 || w != z) return Refuse(kInvalid, "the stub knows z = x y alone");
  if ((e.epilogue & 4) && !Holds(e.bias, static_cast<size_t>(o.rows) * SizeOf(o.type)))
    return Refuse(kInvalid, "cublasLtMatmul: no bias");
  static_cast<Stream*>(stream)->Launch(
      [=] { Multiply(e, l, number(x), r, number(y), o, number(z)); });
  return 0;
}
