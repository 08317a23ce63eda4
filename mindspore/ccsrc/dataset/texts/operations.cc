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
  ChangeOperation(std::string name, bool lower_case, TextChange change,
                  std::shared_ptr<CharacterChanges> changes)
      : TextOperation(std::move(name)),
        lower_case_(lower_case),
        change_(std::move(change)),
        changes_(std::move(changes)) {}

  std::vector<Value> Run(const Value& value) const override {
    Value texts = AsText(value);
    auto count = static_cast<size_t>(texts.count());
    std::vector<std::u32string> changed(count);
    std::vector<Word> words(count);
    bool same = true;
    for (size_t i = 0; i < count; ++i) {
      words[i].word = TextAt(texts, static_cast<int64_t>(i));
      if (Stays(words[i].word)) continue;
      changed[i] = Changed(words[i].word);
      words[i].word = changed[i];
      same = false;
    }
    if (same) return {texts};
    return {ValueOf(words, texts.dims)};
  }

 private:
  bool Stays(std::u32string_view text) const {
    if (!lower_case_ && IsAscii(text)) return true;
    for (char32_t c : text) {
      if (KindOf(c) != ChangePage::kStays) return false;
    }
    return true;
  }

  ChangePage::Kind KindOf(char32_t c) const {
    if (c >= 0x80) return changes_->Of(c).kinds[c & 255];
    return lower_case_ && c >= 'A' && c <= 'Z' ? ChangePage::kBecomes : ChangePage::kStays;
  }

  std::u32string Changed(std::u32string_view text) const {
    std::u32string changed;
    changed.reserve(text.size());
    for (char32_t c : text) {
      ChangePage::Kind kind = KindOf(c);
      if (kind == ChangePage::kDepends) return change_(text);
      if (kind == ChangePage::kStays) {
        changed.push_back(c);
      } else if (c < 0x80) {
        changed.push_back(c + ('a' - 'A'));
      } else {
        changed.append(changes_->Of(c).texts[c & 255]);
      }
    }
    return changed;
  }

  bool lower_case_;
  TextChange change_;
  std::shared_ptr<CharacterChanges> changes_;
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

TextOperationRef MakeChange(std::string name, bool lower_case, TextChange change,
                            std::shared_ptr<CharacterChanges> changes) {
  return std::make_shared<ChangeOperation>(std::move(name), lower_case, std::move(change),
                                           std::move(changes));
}

TextOperationRef MakeTruncate(std::string name, int64_t length) {
  return std::make_shared<TruncateOperation>(std::move(name), length);
}

}  // namespace ms::dataset
