#pragma once
#include <any>
#include <map>
#include <typeindex>

namespace sluice {

/// The parameters of the terms of the equations, of the source of a scalar or of an actuation, a struct for each. They
/// belong to the terms: code that does not know a term cannot name them. A struct needs default values, which mean that
/// the term is absent, and ==.
class TermParameters {
 public:
  template <class Parameters>
  static TermParameters with(const Parameters& values) {
    TermParameters terms;
    terms.edit<Parameters>() = values;
    return terms;
  }

  /// The default values if none were set.
  template <class Parameters>
  const Parameters& of() const {
    static const Parameters none{};
    const auto found = parts_.find(typeid(Parameters));
    return found == parts_.end() ? none : *std::any_cast<Parameters>(&found->second.values);
  }

  template <class Parameters>
  Parameters& edit() {
    Part& part = parts_[typeid(Parameters)];
    if (!part.values.has_value()) {
      part.values = Parameters{};
      part.equal = [](const std::any& values, const TermParameters& other) {
        return *std::any_cast<Parameters>(&values) == other.of<Parameters>();
      };
    }
    return *std::any_cast<Parameters>(&part.values);
  }

  template <class Parameters>
  void remove() {
    parts_.erase(typeid(Parameters));
  }

  bool operator==(const TermParameters& other) const { return has_values_of(other) && other.has_values_of(*this); }

 private:
  struct Part {
    std::any values;
    bool (*equal)(const std::any& values, const TermParameters& other) = nullptr;
  };

  bool has_values_of(const TermParameters& other) const {
    for (const auto& [type, part] : other.parts_) {
      if (!part.equal(part.values, *this)) return false;
    }
    return true;
  }

  std::map<std::type_index, Part> parts_;
};

}  // namespace sluice
