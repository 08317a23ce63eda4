// See operations.h: what they have in common, and those that cut no words.
#include "dataset/texts/operations.h"

#include <algorithm>
#include <cstring>

#include "dataset/texts/words.h"
#include "dataset/transforms/pixels.h"

namespace ms::dataset {

void TextOperation::Apply(std::span<Call> calls) const {
  for (Call& call : calls) {
    std::vector<Value> results;
    try {
      for (const Value& value : call.values) {
        std::vector<Value> made = Run(value);
        std::move(made.begin(), made.end(), std::back_inserter(results));
      }
    } catch (const Error& error) {
      Throw(ErrorKind::kRuntime, "For 'map', row {}: {}", call.number, error.Of(name_).message());
    }
    call.values = std::move(results);
  }
}

namespace {

class LookupOperation : public TextOperation {
 public:
  LookupOperation(std::string name, std::shared_ptr<const Vocabulary> vocabulary, int64_t unknown,
                  DType dtype)
      : TextOperation(std::move(name)),
        vocabulary_(std::move(vocabulary)),
        unknown_(unknown),
        dtype_(dtype) {}

  std::vector<Value> Run(const Value& value) const override {
    Value texts = AsText(value);
    Value numbers = Value::Make(Element::Of(DType::kInt64), texts.dims);
    auto* out = reinterpret_cast<int64_t*>(numbers.memory());
    for (int64_t i = 0, count = texts.count(); i < count; ++i) {
      std::u32string_view word = TextAt(texts, i);
      const Vocabulary::Entry* entry = vocabulary_->Find(word);
      out[i] = entry ? entry->number : unknown_;
      if (out[i] >= 0) continue;
      Throw(ErrorKind::kValue,
            "words must be in the vocabulary, but got '{}'. Give an unknown_token.",
            Utf8(word.substr(0, 99)));
    }
    return {Cast(numbers, dtype_)};
  }

 private:
  std::shared_ptr<const Vocabulary> vocabulary_;
  int64_t unknown_;
  DType dtype_;
};

class ChangeOperation : public TextOperation {
 public:
  ChangeOperation(std::string name, bool lower_case, TextChange change)
      : TextOperation(std::move(name)), lower_case_(lower_case), change_(std::move(change)) {}

  std::vector<Value> Run(const Value& value) const override {
    Value texts = AsText(value);
    auto count = static_cast<size_t>(texts.count());
    std::vector<std::u32string> changed(count);
    std::vector<Word> words(count);
    for (size_t i = 0; i < count; ++i) {
      words[i].word = TextAt(texts, static_cast<int64_t>(i));
      bool ascii = IsAscii(words[i].word);
      if (ascii && !lower_case_) continue;
      changed[i] = ascii ? Lower(words[i].word) : change_(words[i].word);
      words[i].word = changed[i];
    }
    return {ValueOf(words, texts.dims)};
  }

 private:
  static std::u32string Lower(std::u32string_view text) {
    std::u32string lower(text);
    for (char32_t& c : lower) c += c >= 'A' && c <= 'Z' ? 'a' - 'A' : 0;
    return lower;
  }

  bool lower_case_;
  TextChange change_;
};

class TruncateOperation : public TextOperation {
 public:
  TruncateOperation(std::string name, int64_t length)
      : TextOperation(std::move(name)), length_(length) {}

  std::vector<Value> Run(const Value& value) const override {
    Dims dims = *value.dims;
    if (value.opaque() || dims.empty() || dims.size() > 2) {
      Throw(ErrorKind::kValue, "the input must have rank 1 or 2, but got {}", dims.size());
    }
    int64_t kept = std::min(dims.back(), length_);
    if (kept == dims.back()) return {value};
    size_t from = static_cast<size_t>(dims.back()) * value.element.size;
    size_t to = static_cast<size_t>(kept) * value.element.size;
    int64_t rows = dims.size() == 2 ? dims[0] : 1;
    dims.back() = kept;
    Value result = Value::Make(value.element, MakeDims(std::move(dims)));
    for (int64_t row = 0; row < rows; ++row) {
      auto place = static_cast<size_t>(row);
      std::memcpy(result.memory() + place * to, value.data + place * from, to);
    }
    return {result};
  }

 private:
  int64_t length_;
};

}  // namespace

TextOperationRef MakeLookup(std::string name, std::shared_ptr<const Vocabulary> vocabulary,
                            int64_t unknown, DType dtype) {
  return std::make_shared<LookupOperation>(std::move(name), std::move(vocabulary), unknown, dtype);
}

TextOperationRef MakeChange(std::string name, bool lower_case, TextChange change) {
  return std::make_shared<ChangeOperation>(std::move(name), lower_case, std::move(change));
}

TextOperationRef MakeTruncate(std::string name, int64_t length) {
  return std::make_shared<TruncateOperation>(std::move(name), length);
}

}  // namespace ms::dataset
