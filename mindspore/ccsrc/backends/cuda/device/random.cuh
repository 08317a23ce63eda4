// Random numbers, those of the host: Philox 4x32-10 (kernel/random.h). A group of 64 words is made
// of 16 counters; word i is part i / 16 of counter i % 16. A thread has a counter, and the four
// elements that its words are for.
// The op's own seeds choose another stream; zeros leave the global one. In a recording, which runs
// again and again, the global seed and the first offset are read from memory.
struct Numbers {
  // Seed, offset, elements, the word of the first element, the op's own seeds, the ticket.
  long long at[7];
  // Of device/sampling.cuh: rows of `size` elements of which `kept` are drawn, sorted runs of
  // `width`, another ticket.
  long long rows, size, kept, width, fewer;
};
typedef const uint64_t* Recorded;  // null, or these two

// The finaliser of SplitMix64.
MS_FUNCTION uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}
MS_FUNCTION uint64_t SeedOf(Recorded recorded, const Numbers& n) {
  const uint64_t seed = recorded ? recorded[0] : (uint64_t)n.at[0];
  if (n.at[4] == 0 && n.at[5] == 0) return seed;
  return Mix(Mix(seed ^ (uint64_t)n.at[4]) + (uint64_t)n.at[5]);
}
struct Stream {
  uint64_t seed, offset;
};
MS_FUNCTION Stream StreamOf(Recorded recorded, const Numbers& n) {
  return Stream{SeedOf(recorded, n), (uint64_t)n.at[1] + (recorded ? recorded[1] : 0)};
}
struct Words {
  uint32_t at[4];
};
MS_FUNCTION Words Philox(uint64_t seed, uint64_t offset, uint64_t counter) {
  uint32_t c0 = (uint32_t)counter, c1 = (uint32_t)(counter >> 32);
  uint32_t c2 = (uint32_t)offset, c3 = (uint32_t)(offset >> 32);
  uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
    c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
    c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
    c1 = (uint32_t)p1;
    c3 = (uint32_t)p0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return Words{{c0, c1, c2, c3}};
}

// Two normals from two words (Box and Muller), as the host has it.
MS_FUNCTION void Normals(uint32_t radius_word, uint32_t angle_word, float* first, float* second) {
  const float u = ((float)radius_word + 0.5f) * (1.0f / 4294967296.0f);
  const float radius = ::sqrtf(::fabsf(-2.0f * k_log(u)));
  const float turns = (float)(int32_t)angle_word * (1.0f / 1073741824.0f);  // [-2, 2]
  const int32_t quarter = (int32_t)(turns + (turns < 0 ? -0.5f : 0.5f));
  const float x = (turns - (float)quarter) * 1.57079632679f, z = x * x;
  const float sine =
      x * (1.0f + z * (-1.0f / 6 + z * (1.0f / 120 + z * (-1.0f / 5040 + z * (1.0f / 362880)))));
  const float cosine =
      1.0f + z * (-0.5f + z * (1.0f / 24 + z * (-1.0f / 720 + z * (1.0f / 40320))));
  const bool swap = (quarter & 1) != 0;
  const float s = swap ? cosine : sine, c = swap ? sine : cosine;
  *first = radius * (((quarter + 1) & 2) != 0 ? -c : c);
  *second = radius * ((quarter & 2) != 0 ? -s : s);
}

// body(words, e): e is the element of the first word, the others follow 16 apart; some of them may
// be outside of [0, elements).
template <class F>
MS_FUNCTION void ForWords(Recorded recorded, Numbers n, F body) {
  const Stream stream = StreamOf(recorded, n);
  const long long first = n.at[3] / 64 * 16, end = (n.at[3] + n.at[2] + 63) / 64 * 16;
  const long long step = (long long)gridDim.x * 256;
  for (long long c = first + (long long)blockIdx.x * 256 + threadIdx.x; c < end; c += step) {
    const Words words = Philox(stream.seed, stream.offset, (uint64_t)c);
    body(words, c / 16 * 64 + c % 16 - n.at[3]);
  }
}

MS_FUNCTION void Uniform(Recorded recorded, float* out, Numbers n) {
  ForWords(recorded, n, [=](Words words, long long e) {
    for (int j = 0; j < 4; ++j) {
      if (e + 16 * j < n.at[2])
        out[e + 16 * j] = (float)(int32_t)(words.at[j] >> 8) * (1.0f / 16777216.0f);
    }
  });
}
MS_FUNCTION void Normal(Recorded recorded, float* out, Numbers n) {
  ForWords(recorded, n, [=](Words words, long long e) {
    float normals[4];
    Normals(words.at[0], words.at[1], &normals[0], &normals[1]);
    Normals(words.at[2], words.at[3], &normals[2], &normals[3]);
    for (int j = 0; j < 4; ++j) {
      if (e + 16 * j < n.at[2]) out[e + 16 * j] = normals[j];
    }
  });
}
// Words below the threshold are kept.
template <class M, class R>
MS_FUNCTION void Drop(Recorded recorded, const M* x, M* y, M* mask, uint64_t threshold, R scale,
                      Numbers n) {
  ForWords(recorded, n, [=](Words words, long long e) {
    for (int j = 0; j < 4; ++j) {
      const long long at = e + 16 * j;
      if (at < 0 || at >= n.at[2]) continue;
      const bool kept = words.at[j] < threshold;
      y[at] = Stored<M>::Of(kept ? k_mul(Load(x[at]), scale) : (R)0);
      mask[at] = Stored<M>::Of((R)kept);
    }
  });
}

// The seed and the offset that Drop would draw with, as a value, and what it would multiply by.
MS_FUNCTION void KeyOfDrop(Recorded recorded, long long* key, Numbers n) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  const Stream stream = StreamOf(recorded, n);
  key[0] = (long long)stream.seed;
  key[1] = (long long)stream.offset;
}
template <class R>
MS_FUNCTION void MaskOfDrop(Recorded key, R* mask, uint64_t threshold, R scale, Numbers n) {
  ForWords(key, n, [=](Words words, long long e) {
    for (int j = 0; j < 4; ++j) {
      const long long at = e + 16 * j;
      if (at >= 0 && at < n.at[2]) mask[at] = words.at[j] < threshold ? scale : (R)0;
    }
  });
}

// The upper half of a product of 64 bits.
MS_FUNCTION uint64_t UpperHalf(uint64_t a, uint64_t b) {
  const uint64_t low = 0xffffffffull, a0 = a & low, a1 = a >> 32, b0 = b & low, b1 = b >> 32;
  const uint64_t cross = (a0 * b0 >> 32) + (a0 * b1 & low) + (a1 * b0 & low);
  return a1 * b1 + (a0 * b1 >> 32) + (a1 * b0 >> 32) + (cross >> 32);
}
// body(number, i): numbers of 64 bits are two words, which are 32 apart: a thread has those of two of
// them. Numbers: twice as many elements.
template <class F>
MS_FUNCTION void ForWideWords(Recorded recorded, Numbers n, F body) {
  ForWords(recorded, n, [=](Words words, long long e) {
    for (int j = 0; j < 2; ++j) {
      const long long at = e / 64 * 32 + e % 64 + 16 * j;
      if (at < n.at[2] / 2) body((uint64_t)words.at[j] << 32 | words.at[j + 2], at);
    }
  });
}
// Integers from the first number up to, but without, the second one.
template <class T>
MS_FUNCTION void Integers(Fault* fault, Recorded recorded, const T* low, const T* high, T* out,
                          Numbers n) {
  const T first = low[0], end = high[0];
  if (first >= end) {
    Report(fault, (unsigned)n.at[6], (long long)first, (long long)end);
    return;
  }
  ForWideWords(recorded, n, [=](uint64_t word, long long i) {
    out[i] = (T)((uint64_t)first + UpperHalf(word, (uint64_t)end - (uint64_t)first));
  });
}
// 1 with a probability, which is that of all elements or of each.
template <class M, class P>
MS_FUNCTION void Chances(Fault* fault, Recorded recorded, const P* chances, bool each, M* out,
                         Numbers n) {
  typedef decltype(Load(M())) R;
  ForWords(recorded, n, [=](Words words, long long e) {
    for (int j = 0; j < 4; ++j) {
      const long long at = e + 16 * j;
      if (at < 0 || at >= n.at[2]) continue;
      const double chance = (double)Load(chances[each ? at : 0]);
      if (!(chance >= 0 && chance <= 1)) {
        Report(fault, (unsigned)n.at[6], each ? at : 0, 0);
        return;
      }
      // Halves go up, as in llround.
      const bool taken = words.at[j] < (uint64_t)::floor(chance * 4294967296.0 + 0.5);
      out[at] = Stored<M>::Of((R)taken);
    }
  });
}
