// Groups that are equal but for their place in the graph share one body: networks repeat their
// layers, and what was found out about one group holds for the next.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "passes/fuse/fusable.h"

namespace ms {

// Numbers for what nodes are, apart from what they read; equal ones have the same number.
class NodeClasses {
 public:
  // By op, how much it reads, attributes and types; of a constant, by its value.
  uint64_t Of(const Node& node);
  // By type alone; no number of the other kind.
  uint64_t Of(const Type& type);

 private:
  struct Class {
    const OpDef* op;  // null: a constant or a type
    size_t inputs;
    AttrsRef attrs;
    Types outputs;
    Tensor value;
  };
  bool Is(const Class& known, const Node& node) const;
  uint64_t Add(size_t hash, Class fresh);

  std::vector<Class> classes_;
  std::unordered_multimap<size_t, uint64_t> by_hash_;
};

// All that decides whether a group can be a body and which: its members and the glue they read
// through, numbered in the order in which a walk over the members meets them, and which results are
// needed outside. What the group reads counts by its type.
struct GroupStructure {
  std::vector<uint64_t> text;
  std::vector<Node*> nodes;  // by number
};

// What is known of groups by their structure.
struct KnownGroup {
  enum class Body : uint8_t { kUnknown, kNone, kMade };
  using Places = std::vector<std::pair<uint32_t, uint32_t>>;  // number of a node, and its output

  bool fits = false;  // Sketch::Solve finds nothing against it
  Body body = Body::kUnknown;
  AttrsRef attrs;          // of Fused, with the body
  Places inputs, outputs;  // of the body
};

// Shared by all graphs of a module.
class KnownGroups {
 public:
  NodeClasses& classes() { return classes_; }
  // The group of this structure; `fresh` where none was seen.
  KnownGroup& Get(const GroupStructure& structure, bool* fresh) {
    auto [it, added] = groups_.try_emplace(structure.text);
    *fresh = added;
    return it->second;
  }

 private:
  struct TextHash {
    size_t operator()(const std::vector<uint64_t>& text) const {
      size_t hash = text.size();
      for (uint64_t word : text) hash = HashCombine(hash, word);
      return hash;
    }
  };
  NodeClasses classes_;
  std::unordered_map<std::vector<uint64_t>, KnownGroup, TextHash> groups_;
};

// Groups of one graph, which does not change meanwhile.
class GroupTable {
 public:
  GroupTable(const Graph& graph, const FuseNodes& nodes, KnownGroups& known)
      : nodes_(nodes),
        known_(known),
        number_(graph.nodes().size(), 0),
        class_(graph.nodes().size(), 0) {}

  // What is known of these members, compute nodes in program order; solved if it is the first group
  // of its structure.
  KnownGroup& Find(const std::vector<Node*>& members);
  // Of the members that were asked for last.
  Var At(std::pair<uint32_t, uint32_t> place) const {
    return {structure_.nodes[place.first], place.second};
  }
  std::pair<uint32_t, uint32_t> PlaceOf(const Var& v) const {
    return {number_[v.node->id] - 1, v.index};
  }

 private:
  void Write(const std::vector<Node*>& members);
  void WriteValue(const Var& v);
  void Number(Node* node);
  uint64_t ClassOf(const Node& node);

  const FuseNodes& nodes_;
  KnownGroups& known_;
  std::vector<uint32_t> number_;  // by node: its number in this group, and 1; 0: not met
  std::vector<uint64_t> class_;   // by node: its class, and 1; 0: not asked for yet
  GroupStructure structure_;
  size_t members_ = 0;  // of it
};

}  // namespace ms
