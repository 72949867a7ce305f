#pragma once
// What a case file says of a term of the equations, of a source of a scalar, or of the control of walls. io/ reads,
// checks and documents their keys alike.
#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "model/parameters.hpp"

namespace sluice {

/// Allowed values of a number.
struct Range {
  std::vector<double> minimum{};  ///< one for all, or one for each component of a list; empty: no limit
  bool above = false;             ///< the minimum itself is not allowed
  double maximum = std::numeric_limits<double>::infinity();
};

/// A row of the table of case-file keys: what a key means, what it may be, and what it sets. Value: what the key sets,
/// and how.
template <class Value>
struct KeyRow {
  std::string path{};                ///< such as flow.reynolds.bulk; for keys of list items: output.slices[].at
  Value value{};                     ///< its type and what it is bound to; unused for a section
  std::vector<std::string> words{};  ///< words allowed in place of a value: none, auto
  Range range{};
  bool required = false;                ///< unless one of `excludes` is given, or `only_with` does not apply
  bool physical = true;                 ///< a restart may not change it; if false for a section, false for all its keys
  bool sampled = true;                  ///< a physical key that statistics depend on; for sections like `physical`
  std::string fallback{};               ///< YAML of the value used when the key is absent; empty: none
  std::string earlier_fallback{};       ///< in place of fallback for stored cases that are older than the key
  std::string fallback_note{};          ///< documentation of a default that depends on other keys
  std::string unit{};                   ///< U: the velocity unit that flow.reynolds sets; empty: not a number
  std::string meaning{};                ///< one sentence
  std::vector<std::string> excludes{};  ///< keys of the same section that contradict this one
  std::vector<std::string> only_with{};  ///< the values of the section's `type` for which this key exists
  std::string example{};                 ///< value in the template, if not the fallback
  bool commented = false;                ///< shown in the template as a comment

  /// Last part of the path.
  std::string name() const {
    const auto dot = path.rfind('.');
    return dot == std::string::npos ? path : path.substr(dot + 1);
  }
  /// Path without its last part; for keys of list items: with [].
  std::string section() const {
    const auto dot = path.rfind('.');
    return dot == std::string::npos ? "" : path.substr(0, dot);
  }
  bool is_section() const { return value.is_section(); }
  /// For a section: the section() of its keys.
  std::string content() const { return value.is_list() ? path + "[]" : path; }
};

/// A part of FlowParameters that a key sets. scalar: the index of the scalar, for keys below scalars[].
template <class T>
struct ParameterMember {
  std::function<T&(FlowParameters&, std::size_t scalar)> edit;
  std::function<const T&(const FlowParameters&, std::size_t scalar)> get;
};

/// One of a few words.
struct ParameterChoice {
  std::vector<std::string> words;
  std::function<void(FlowParameters&, std::size_t)> set;  ///< takes the index of a word
  std::function<std::size_t(const FlowParameters&)> get;  ///< index of the chosen word; words.size(): none is chosen
};

/// One of several keys that set the same number in different units; a case gives one of them.
struct ParameterAlternative {
  std::function<double&(FlowParameters&)> choose;             ///< makes it the key that is given; returns its value
  std::function<const double*(const FlowParameters&)> given;  ///< null if it is not the key that is given
};

/// The parameters of a term as a section of the case file, which the word none can replace.
struct ParameterSection {
  std::function<void(FlowParameters&)> remove;
  std::function<bool(const FlowParameters&)> is_none;
};

struct ParameterValue {
  std::variant<ParameterSection, ParameterAlternative, ParameterChoice, ParameterMember<double>,
               ParameterMember<std::optional<double>>, ParameterMember<std::array<double, 2>>,
               ParameterMember<std::array<double, 3>>, ParameterMember<std::string>>
      bound;
  bool is_length = false;                                              ///< of a number: multiples of pi are allowed
  std::vector<std::pair<std::string, std::array<double, 3>>> names{};  ///< words for vectors
};

using ParameterKey = KeyRow<ParameterValue>;

/// Never called: makes g++ 12 instantiate the default values, without which it fails on designated initializers.
inline ParameterKey empty_key() {
  return {};
}

/// The value of a key: this member of the term's parameters.
template <class Parameters, class T>
ParameterMember<T> parameter(T Parameters::*member) {
  return {
      .edit = [=](FlowParameters& flow, std::size_t) -> T& { return flow.terms.edit<Parameters>().*member; },
      .get = [=](const FlowParameters& flow, std::size_t) -> const T& { return flow.terms.of<Parameters>().*member; }};
}
/// This member of the parameters of the source of a scalar.
template <class Parameters, class T>
ParameterMember<T> parameter_of_source(T Parameters::*member) {
  return {.edit = [=](FlowParameters& flow, std::size_t scalar) -> T& {
            return flow.scalars[scalar].source.edit<Parameters>().*member;
          },
          .get = [=](const FlowParameters& flow, std::size_t scalar) -> const T& {
            return flow.scalars[scalar].source.of<Parameters>().*member;
          }};
}
/// The value of a key that is one of several: the member {kind, value} of the term's parameters has this kind.
template <class Parameters, class Member, class Kind>
ParameterAlternative parameter(Member Parameters::*member, Kind kind) {
  return {.choose = [=](FlowParameters& flow) -> double& {
            Member& held = flow.terms.edit<Parameters>().*member;
            held.kind = kind;
            return held.value;
          },
          .given = [=](const FlowParameters& flow) -> const double* {
            const Member& held = flow.terms.of<Parameters>().*member;
            return held.kind == kind ? &held.value : nullptr;
          }};
}
/// A member that is an enumeration, by words in the order of its enumerators.
template <class Enum>
ParameterChoice choice_of(const ParameterMember<Enum>& member, const std::vector<std::string>& words) {
  return {.words = words,
          .set = [edit = member.edit](FlowParameters& flow, std::size_t n) { edit(flow, 0) = static_cast<Enum>(n); },
          .get = [get = member.get](const FlowParameters& flow) { return static_cast<std::size_t>(get(flow, 0)); }};
}
template <class Parameters>
ParameterSection parameter_section() {
  return {.remove = [](FlowParameters& flow) { flow.terms.remove<Parameters>(); },
          .is_none = [](const FlowParameters& flow) { return flow.terms.of<Parameters>() == Parameters{}; }};
}

/// A name that users of other programs and readers of papers try, in lower case, and the key that it means.
struct Synonym {
  std::string name;
  std::string key;
  bool operator==(const Synonym&) const = default;
};

/// A value that users try, in lower case, what it means, and another key that is then needed; empty: none.
struct ValueSynonym {
  const char* word;
  const char* value;
  const char* needs = "";
};

/// What a term may need to know of a case beside FlowParameters.
struct CaseFacts {
  std::array<double, 3> size{};  ///< of the domain
};

/// Where the rules of a term report what is wrong.
struct RuleReport {
  std::function<bool(const std::string& path)> good;  ///< whether no other problem was found with a key
  std::function<void(const std::string& path, const std::string& what)> note;
  CaseFacts facts{};
};

/// A term of the equations, a source of a scalar, or the control of walls, as far as the case file knows it. What they
/// do to the flow: solver/physics/term.hpp, source.hpp, solver/walls/wall_actuation.hpp.
class Physics {
 public:
  virtual ~Physics() = default;
  /// The word for it in messages, such as "rotation".
  virtual std::string name() const = 0;
  virtual bool active(const FlowParameters& flow) const = 0;

  /// Its keys, a section before the keys in it. They follow the other keys of the section that they belong to.
  virtual std::vector<ParameterKey> keys() const { return {}; }
  virtual std::vector<Synonym> synonyms() const { return {}; }
  virtual std::vector<ValueSynonym> value_synonyms() const { return {}; }
  /// Computes what follows from the values of its keys and from the other parameters.
  virtual void derive(FlowParameters& /*flow*/, const CaseFacts& /*facts*/) const {}
  /// Reports contradictions between keys. A key takes part only if it is valid on its own: if RuleReport::good is true.
  virtual void check(const FlowParameters& /*flow*/, const RuleReport& /*report*/) const {}
  /// Whether it gives the velocity far above the wall, which then drives the flow in place of flow.forcing.
  virtual bool drives_from_above(const FlowParameters& /*flow*/) const { return false; }

 protected:
  Physics() = default;
  Physics(const Physics&) = default;
  Physics& operator=(const Physics&) = default;
};

using PhysicsList = std::span<const Physics* const>;

}  // namespace sluice
