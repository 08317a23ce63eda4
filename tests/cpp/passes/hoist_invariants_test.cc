// What a loop computes anew in each round from values that never change moves in front of it.
#include "passes/passes_test.h"

namespace ms {
namespace {

using testing::ExpectPass;
using testing::Main;

// A loop that starts with s = x and captures y and a; `captures`, `given` and `kept` are further
// captures of loop and body, and what they are given, and `head` and `round` their nodes.
std::string Program(const std::string& before, const std::string& extra, const std::string& given,
                    const std::string& captures, const std::string& kept, const std::string& head,
                    const std::string& round, const std::string& again) {
  return Main(before + "%p = Partial(y, a" + given +
              ", graph=@loop)\n%r = Call(%p, x)\nreturn %r") +
         fmt::format(R"(
    graph loop[w: Float32[2], limit: Float32[]{1}](s: Float32[2]) -> (Float32[2]) loop(body=@body, done=@done, trip_count=-1) {{
      {3}
      %t = ReduceSum(s)
      %c = Less(%t, limit)
      %b = Partial(s, w, limit{2}, graph=@body)
      %d = Partial(s, graph=@done)
      %f = Switch(%c, %b, %d)
      %q = Call(%f)
      return %q
    }}
    graph body[s: Float32[2], w: Float32[2], limit: Float32[]{1}]() -> (Float32[2]) {{
      {4}
      %p = Partial(w, limit{5}, graph=@loop)
      %q = Call(%p, %n)
      return %q
    }}
    graph done[s: Float32[2]]() -> (Float32[2]) {{
      return s
    }})",
                     extra, captures, kept, head, round, again);
}

std::string Plain(const std::string& round) { return Program("", "", "", "", "", "", round, ""); }

TEST(HoistInvariants, MovesWhatNeverChanges) {
  ExpectPass(HoistInvariants,
             Plain("%k = Tanh(w)\n%o = Constant(Float32[] [1.0])\n%m = Add(%k, %o)\n"
                   "%n = Mul(s, %m)"),
             Program("%k = Tanh(y)\n%o = Constant(Float32[] [1.0])\n%m = Add(%k, %o)\n", "", ", %m",
                     ", m: Float32[2]", ", m", "",
                     "%k = Tanh(w)\n%o = Constant(Float32[] [1.0])\n%x = Add(%k, %o)\n"
                     "%n = Mul(s, m)",
                     ", m"));
}

TEST(HoistInvariants, LeavesWhatChanges) {
  std::string changing = Plain("%k = Tanh(s)\n%n = Mul(%k, w)");
  ExpectPass(HoistInvariants, changing, changing);
}

// Reading a large array costs more than to make it of a small one.
TEST(HoistInvariants, LeavesBroadcasts) {
  std::string spread = Plain("%k = BroadcastTo(limit, shape=[2])\n%n = Mul(s, %k)");
  ExpectPass(HoistInvariants, spread, spread);
}

TEST(HoistInvariants, LeavesEffectsAndWhatMayFail) {
  std::string random = Plain("%k, %l = Dropout(w)\n%n = Mul(s, %k)");
  ExpectPass(HoistInvariants, random, random);
  std::string gather =
      Plain("%i = Cast(limit, dtype=Int32)\n%k = Gather(w, %i, axis=0)\n%n = Mul(s, %k)");
  ExpectPass(
      HoistInvariants, gather,
      Program("%i = Cast(a, dtype=Int32)\n", "", ", %i", ", i: Int32[]", ", i", "",
              "%j = Cast(limit, dtype=Int32)\n%k = Gather(w, i, axis=0)\n%n = Mul(s, %k)", ", i"));
}

// A capture that a round replaces is not the same in the next one.
TEST(HoistInvariants, SeesCapturesThatChange) {
  std::string text = Plain("%k = Tanh(w)\n%n = Mul(s, %k)");
  std::string same = "Partial(w, limit, graph=@loop)";
  text.replace(text.find(same), same.size(), "Partial(%n, limit, graph=@loop)");
  ExpectPass(HoistInvariants, text, text);
}

}  // namespace
}  // namespace ms
