/* Valid C++20 but not C11: check_wire.sh must refuse it. */
constexpr int answer() { return 42; }
