// Writes a program for flatc: `forward` is one call of KvcoreReferenceBackend over all layers, and constant methods
// publish the shape that a runner configures the cache by.
//
//   write_model N_HEADS N_KV_HEADS HEAD_DIM CHUNK WINDOW...      a window for each layer; 0: it keeps all history
#include "model.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

std::string number(long value) { return std::to_string(value); }

std::string list(const std::vector<int>& values) {
  std::string text;
  for (int value : values) text += (text.empty() ? "" : ", ") + number(value);
  return "[" + text + "]";
}

std::string int_value(int value) {
  return R"({"val_type": "Int", "val": {"int_val": )" + number(value) + "}}";
}

// A tensor of up to these sizes. Only the output has memory planned; inputs are used where they are.
std::string tensor(const char* type, const std::vector<int>& sizes, bool planned) {
  std::vector<int> order;
  for (std::size_t i = 0; i < sizes.size(); ++i) order.push_back(static_cast<int>(i));
  std::string text = R"({"val_type": "Tensor", "val": {"scalar_type": ")";
  text += type;
  text += R"(", "sizes": )" + list(sizes) + R"(, "dim_order": )" + list(order);
  text += R"(, "shape_dynamism": "DYNAMIC_BOUND")";
  if (planned) text += R"(, "allocation_info": {"memory_id": 1})";
  return text + "}}";
}

// A method whose outputs are these numbers.
std::string constant_method(const char* name, const std::vector<int>& numbers) {
  std::string values;
  std::vector<int> outputs;
  for (int value : numbers) {
    values += (values.empty() ? "" : ", ") + int_value(value);
    outputs.push_back(static_cast<int>(outputs.size()));
  }
  return std::string(R"({"name": ")") + name + R"(", "values": [)" + values + R"(], "inputs": [], "outputs": )" +
         list(outputs) + R"(, "operators": [], "delegates": [], "chains": [{"instructions": []}], )" +
         R"("non_const_buffer_sizes": [0]})";
}

std::string forward_method(const Shape& shape) {
  const std::vector<int> queries = {shape.n_layers, shape.n_heads, shape.chunk, shape.head_dim};
  const std::vector<int> keys = {shape.n_layers, shape.n_kv_heads, shape.chunk, shape.head_dim};
  const std::string values = tensor("FLOAT", queries, false) + ", " + tensor("FLOAT", keys, false) + ", " +
                             tensor("FLOAT", keys, false) + ", " + tensor("LONG", {shape.chunk}, false) + ", " +
                             tensor("FLOAT", queries, true);
  const long bytes = 4L * shape.n_layers * shape.n_heads * shape.chunk * shape.head_dim;
  std::string specs;
  for (int value : {shape.n_layers, shape.n_heads, shape.n_kv_heads, shape.head_dim}) {
    specs += (specs.empty() ? "" : ", ") + number(value & 0xFF) + ", " + number(value >> 8 & 0xFF);
  }
  return R"({"name": "forward", "values": [)" + values + R"(], "inputs": [0, 1, 2, 3], "outputs": [4], )" +
         R"("operators": [], "delegates": [{"id": "KvcoreReferenceBackend", )" +
         R"("processed": {"location": "INLINE", "index": 0}, )" +
         R"("compile_specs": [{"key": "shape", "value": [)" + specs + R"(]}]}], )" +
         R"("chains": [{"instructions": [{"instr_args_type": "DelegateCall", )" +
         R"("instr_args": {"delegate_index": 0, "args": [0, 1, 2, 3, 4]}}]}], )" +
         R"("non_const_buffer_sizes": [0, )" + number(bytes) + "]}";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    std::fprintf(stderr, "usage: write_model N_HEADS N_KV_HEADS HEAD_DIM CHUNK WINDOW...\n");
    return 2;
  }
  Shape shape;
  shape.n_heads = std::atoi(argv[1]);
  shape.n_kv_heads = std::atoi(argv[2]);
  shape.head_dim = std::atoi(argv[3]);
  shape.chunk = std::atoi(argv[4]);
  for (int i = 5; i < argc; ++i) shape.windows.push_back(std::atoi(argv[i]));
  shape.n_layers = static_cast<int>(shape.windows.size());

  const std::string plans = forward_method(shape) + ",\n  " + constant_method("get_n_layers", {shape.n_layers}) +
                            ",\n  " + constant_method("get_n_heads", {shape.n_heads}) + ",\n  " +
                            constant_method("get_n_kv_heads", {shape.n_kv_heads}) + ",\n  " +
                            constant_method("get_head_dim", {shape.head_dim}) + ",\n  " +
                            constant_method("get_chunk", {shape.chunk}) + ",\n  " +
                            constant_method("get_windows", shape.windows);
  std::printf("{\"version\": 0, \"execution_plan\": [\n  %s],\n \"constant_buffer\": [], "
              "\"backend_delegate_data\": [{\"data\": [0]}],\n \"segments\": [], "
              "\"constant_segment\": {\"offsets\": [0]}}\n",
              plans.c_str());
  return 0;
}
