// What the parts of the stub's libcudnn share: descriptors (dnn.cc), and what they compute
// (dnn_run.cc, dnn_attention.cc). Attributes and kinds have the numbers of cudnn_graph.h.
#pragma once

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "stub.h"

namespace stub::dnn {

enum Kind {
  kPointwise = 0,
  kConvolution = 1,
  kEngine = 2,
  kConfig = 3,
  kHeuristics = 4,
  kPlan = 5,
  kForward = 10,
  kFilter = 11,
  kData = 12,
  kStep = 13,
  kGraph = 15,
  kPack = 16,
  kTensor = 17,
  kAttention = 41,
  kAttentionGrad = 43,
  kBand = 44,
  kSoftmax = 45,
};
enum { kBadParam = 2000, kNotSupported = 3000 };

struct Tensor {
  int type = 0;  // CUDA_R_*
  int64_t alignment = 1, name = 0;
  std::vector<int64_t> sizes, strides;
  bool between = false;  // of two steps, in no memory
  bool on_host = false;  // a number that is handed over by its value
};

struct Value {
  int type = 0;
  std::vector<char> bytes;
};

struct Desc {
  int kind = 0;
  bool final = false;
  std::map<int, Value> attributes;
  std::vector<Desc*> steps;  // of a graph
  Desc* graph = nullptr;     // of an engine, a configuration, a plan
  int engine = -1;           // likewise: 0 by tensor cores, 1 in an order of chance, 2 plain

  bool Has(int attribute) const { return attributes.contains(attribute); }
  template <class T>
  std::vector<T> All(int attribute) const {
    const std::vector<char>& bytes = attributes.at(attribute).bytes;
    std::vector<T> all;
    for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
      T value;
      std::memcpy(&value, bytes.data() + at, sizeof(T));
      all.push_back(value);
    }
    return all;
  }
  template <class T>
  T Get(int attribute) const {
    return All<T>(attribute)[0];
  }
  double Scalar(int attribute) const {
    return attributes.at(attribute).type == 5 ? Get<double>(attribute) : Get<float>(attribute);
  }
  Desc* Part(int attribute, int64_t i = 0) const;  // null: gone, or not finalized
  Tensor AsTensor() const;
  // Of a convolution, the number of its first attribute; 0: this is none.
  int first() const {
    return kind == kForward ? 700 : kind == kData ? 706 : kind == kFilter ? 712 : 0;
  }
};
Handles<Desc>& Descs();
Stream*& TheStream();
extern int handle_mark;

int Wrong(const std::string& what);    // noted
int NotHere(const std::string& what);  // what a real engine may say, too

// A convolution or a gradient of one: which of the tensors is computed says the kind.
struct Convolution {
  int kind = 0;
  Tensor x, w, y;
  std::vector<int64_t> strides, dilations, before, after;
};
Convolution ConvolutionOf(const Desc& step);
int CheckConvolution(const Convolution& c);
int CheckAttention(const Desc& d);
int64_t WorkspaceOf(int engine);
void Record(const Desc& graph);

}  // namespace stub::dnn
