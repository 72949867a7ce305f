#include "io/case/key_value.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sluice::io {

std::optional<double> parse_number(ValueType type, std::string_view text) {
  if (type == ValueType::length) return parse_length(text);
  if (type == ValueType::duration) return parse_duration(text);
  if (type == ValueType::fraction) return parse_fraction(text);
  if (type == ValueType::real) return parse_real(text);
  const auto integer = type == ValueType::integer ? parse_integer(text) : std::nullopt;
  return integer ? std::optional<double>(static_cast<double>(*integer)) : std::nullopt;
}

namespace binding {

KeyValue wall(WallCondition FlowParameters::*side) {
  return {.read = [=](Case& settings, std::size_t, const YamlNode& node) {
    if (const auto kind = from_name<WallKind>(node.text)) (settings.flow.*side).kind = *kind;
  }};
}

KeyValue wall_velocity(WallCondition FlowParameters::*side) {
  KeyValue velocity = member(ValueType::formula, &Case::flow, side, &WallCondition::velocity);
  velocity.variables = "xyt";
  velocity.read = [=, read = velocity.read](Case& settings, std::size_t item, const YamlNode& node) {
    if (!(settings.flow.*side).drags()) (settings.flow.*side).kind = WallKind::no_slip;
    read(settings, item, node);
  };
  return velocity;
}

namespace {

template <class T>
constexpr ValueType type_of = std::is_same_v<T, std::string> ? ValueType::text : ValueType::real;

template <class T>
KeyValue bound_to(const ParameterMember<T>& member, bool is_length) {
  return bind(
      is_length ? ValueType::length : type_of<T>, {}, [=](auto& settings, std::size_t item) -> auto& {
        if constexpr (std::is_const_v<std::remove_reference_t<decltype(settings)>>)
          return member.get(settings.flow, item);
        else
          return member.edit(settings.flow, item);
      });
}

KeyValue bound_to(const ParameterAlternative& alternative) {
  return {.type = ValueType::real,
          .read = [=](Case& settings, std::size_t,
                      const YamlNode& node) { read_value(ValueType::real, node, alternative.choose(settings.flow)); },
          .write = [=](const Case& settings, std::size_t) -> std::optional<std::string> {
            const double* value = alternative.given(settings.flow);
            return value != nullptr ? std::optional<std::string>(text_of(*value)) : std::nullopt;
          }};
}

KeyValue bound_to(const ParameterChoice& choice) {
  return {.type = ValueType::choice,
          .choices = choice.words,
          .read =
              [=](Case& settings, std::size_t, const YamlNode& node) {
                const auto found = std::ranges::find(choice.words, node.text);
                if (found != choice.words.end())
                  choice.set(settings.flow, static_cast<std::size_t>(found - choice.words.begin()));
              },
          .write = [=](const Case& settings, std::size_t) -> std::optional<std::string> {
            const std::size_t n = choice.get(settings.flow);
            return n < choice.words.size() ? std::optional<std::string>(choice.words[n]) : std::nullopt;
          }};
}

KeyValue bound_to(const ParameterSection& section) {
  return {.read =
              [=](Case& settings, std::size_t, const YamlNode& node) {
                if (node.kind == YamlNode::Kind::scalar) section.remove(settings.flow);
              },
          .write = [=](const Case& settings, std::size_t) -> std::optional<std::string> {
            return section.is_none(settings.flow) ? std::optional<std::string>("none") : std::nullopt;
          }};
}

}  // namespace

KeyValue parameter(const ParameterValue& value) {
  const auto bind_it = [&](const auto& bound) {
    if constexpr (requires { bound_to(bound, false); })
      return bound_to(bound, value.is_length);
    else
      return bound_to(bound);
  };
  KeyValue key = std::visit(bind_it, value.bound);
  const auto* vector = std::get_if<ParameterMember<std::array<double, 3>>>(&value.bound);
  if (value.names.empty() || vector == nullptr) return key;
  key.read = [names = value.names, vector = *vector, read = key.read](Case& settings, std::size_t item,
                                                                      const YamlNode& node) {
    read(settings, item, node);
    for (const auto& [text, named] : names) {
      if (node.kind == YamlNode::Kind::null && node.text == text) vector.edit(settings.flow, item) = named;
    }
  };
  key.write = [names = value.names, vector = *vector, write = key.write](const Case& settings, std::size_t item) {
    for (const auto& [text, named] : names) {
      if (vector.get(settings.flow, item) == named) return std::optional<std::string>(text);
    }
    return write(settings, item);
  };
  return key;
}

KeyValue time_limit(std::optional<double> Case::*limit) {
  KeyValue bound = member(ValueType::duration, limit);
  bound.read = [=, read = bound.read](Case& settings, std::size_t item, const YamlNode& node) {
    read(settings, item, node);
    if (node.kind == YamlNode::Kind::null && node.text == "off")
      settings.*limit = std::numeric_limits<double>::infinity();
  };
  bound.write = [=, write = bound.write](const Case& settings, std::size_t item) {
    return std::isinf((settings.*limit).value_or(0)) ? std::optional<std::string>("off") : write(settings, item);
  };
  return bound;
}

KeyValue exchange_methods() {
  return {.read =
              [](Case& settings, std::size_t, const YamlNode& node) {
                if (node.kind == YamlNode::Kind::scalar) settings.exchange = {node.text};
              },
          .write = [](const Case& settings, std::size_t) -> std::optional<std::string> {
            return settings.exchange.is_uniform() ? std::optional(settings.exchange.text()) : std::nullopt;
          }};
}

KeyValue accuracy_limit(std::size_t figure) {
  return bind(
      ValueType::fraction, {}, [=](auto& settings, std::size_t) -> auto& { return settings.time.until[figure]; });
}

}  // namespace binding

}  // namespace sluice::io
