/* The limit: standard four-player Hearts, one table after the other, with the processor's bit instructions.

   It plays what `engine` plays under the default rules: 13 cards each, three picks passed left, right, across or held,
   the two of clubs leads, no points on the first trick unless there is nothing else, hearts not led until broken, the
   shooter of a moon chooses.  A card is 13 * suit + rank, suits C D H S, ranks 2..A; a hand is a 64-bit set.

   It keeps only what the rules ask for: no order of play, no voids, nothing that a view or a record would need, and no
   rules but these.  So it is what a library that does keep them can be measured against, and not a library.

   Two ways in: limit_random deals and plays with its own random numbers and is timed; limit_policy plays hands that it
   is given by a policy that the caller can repeat, so that the points can be compared deal by deal. */

#include <stdint.h>
#ifdef __BMI2__
#include <immintrin.h>
#endif

#define SEATS 4
#define CARDS 52
#define HAND 13
#define PASSED 3
#define ADD 52
#define SUBTRACT 53
#define MOON_POINTS 26
#define QUEEN_POINTS 13

typedef uint64_t Set;

#define SUIT(suit) ((Set)0x1FFF << (13 * (suit)))
#define CLUBS SUIT(0)
#define HEARTS SUIT(2)
#define BIT(card) ((Set)1 << (card))
#define QUEEN BIT(13 * 3 + 10)
#define PENALTY (HEARTS | QUEEN)

static const int OFFSETS[4] = {1, 3, 2, 0};

typedef struct {
  int random; /* the generator, or else the policy */
  uint64_t state;
  uint64_t id;
  uint64_t decisions;
} Chooser;

typedef struct {
  int points[SEATS];
  int moon;
} Outcome;

/* wyrand, as in wyhash by Wang Yi (public domain): one multiplication a number. */
static inline uint64_t next_random(uint64_t *state) {
  *state += 0xa0761d6478bd642full;
  __uint128_t product = (__uint128_t)*state * (*state ^ 0xe7037ed1a0b428dbull);
  return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

/* The finaliser of splitmix64 (Steele, Lea and Flood, OOPSLA 2014). */
static inline uint64_t mix(uint64_t z) {
  z += 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

static inline int lowest(Set set) { return __builtin_ctzll(set); }

static inline int nth(Set set, unsigned n) {
#ifdef __BMI2__
  return lowest(_pdep_u64(BIT(n), set));
#else
  while (n--) set &= set - 1;
  return lowest(set);
#endif
}

/* A member of the set: any with equal chance, or the one that the policy's hash of (deal id, decision) picks. */
static inline __attribute__((always_inline)) int choose(Chooser *chooser, Set set) {
  uint64_t size = (uint64_t)__builtin_popcountll(set);
  uint64_t number = chooser->random ? next_random(&chooser->state) : mix(chooser->id + mix(chooser->decisions));
  chooser->decisions++;
  return nth(set, (unsigned)(((number >> 32) * size) >> 32));
}

static inline __attribute__((always_inline)) void pass(Chooser *chooser, Set hands[SEATS], int offset) {
  Set picks[SEATS] = {0};
  for (int i = 0; i < PASSED; i++)
    for (int seat = 0; seat < SEATS; seat++) picks[seat] |= BIT(choose(chooser, hands[seat] & ~picks[seat]));
  for (int seat = 0; seat < SEATS; seat++) hands[seat] &= ~picks[seat];
  for (int seat = 0; seat < SEATS; seat++) hands[(seat + offset) % SEATS] |= picks[seat];
}

static inline Set may_lead(Set hand, int broken) {
  Set plain = hand & ~HEARTS;
  return broken || !plain ? hand : plain;
}

static inline Set may_follow(Set hand, Set suit, int first) {
  Set follows = hand & suit;
  if (follows) return follows;
  Set safe = hand & ~PENALTY;
  return first && safe ? safe : hand;
}

static inline __attribute__((always_inline)) void score(Chooser *chooser, const Set taken[SEATS], Outcome *out) {
  out->moon = 0;
  for (int seat = 0; seat < SEATS; seat++) {
    out->points[seat] =
        __builtin_popcountll(taken[seat] & HEARTS) + (taken[seat] & QUEEN ? QUEEN_POINTS : 0);
    if (out->points[seat] == MOON_POINTS) out->moon = seat + 1;
  }
  if (!out->moon) return;
  int adds = choose(chooser, BIT(ADD) | BIT(SUBTRACT)) == ADD;
  for (int seat = 0; seat < SEATS; seat++)
    out->points[seat] = seat == out->moon - 1 ? (adds ? 0 : -MOON_POINTS) : (adds ? MOON_POINTS : 0);
}

/* One deal from the hands as dealt to the points. */
static inline __attribute__((always_inline)) void play(Chooser *chooser, Set hands[SEATS], int offset, Outcome *out) {
  if (offset) pass(chooser, hands, offset);
  Set taken[SEATS] = {0}, opening = BIT(0);
  int leader = 0, broken = 0;
  while (!(hands[leader] & opening)) leader++;
  for (int trick = 0; trick < HAND; trick++) {
    Set leads = trick ? may_lead(hands[leader], broken) : opening;
    int card = choose(chooser, leads), best = card, winner = leader, seat = leader;
    Set suit = SUIT(card / 13), table = BIT(card);
    hands[leader] ^= BIT(card);
    for (int i = 1; i < SEATS; i++) {
      seat = (seat + 1) % SEATS;
      card = choose(chooser, may_follow(hands[seat], suit, !trick));
      hands[seat] ^= BIT(card);
      table |= BIT(card);
      int wins = (BIT(card) & suit) && card > best;
      best = wins ? card : best;
      winner = wins ? seat : winner;
    }
    broken |= (table & PENALTY) != 0;
    taken[winner] |= table;
    leader = winner;
  }
  score(chooser, taken, out);
}

/* A shuffle by Fisher and Yates; the last thirteen cards need no drawing. */
static inline void shuffle(uint64_t *state, Set hands[SEATS]) {
  uint8_t pack[CARDS];
  for (int i = 0; i < CARDS; i++) pack[i] = (uint8_t)i;
  Set rest = BIT(CARDS) - 1;
  for (int seat = 0; seat < SEATS - 1; seat++) {
    Set hand = 0;
    for (int i = seat * HAND; i < (seat + 1) * HAND; i++) {
      int j = i + (int)(((next_random(state) >> 32) * (uint64_t)(CARDS - i)) >> 32);
      uint8_t card = pack[j];
      pack[j] = pack[i];
      hand |= BIT(card);
    }
    hands[seat] = hand;
    rest ^= hand;
  }
  hands[SEATS - 1] = rest;
}

/* Plays so many deals, of ids from `first` on; totals: decisions, moons, deals without a moon, their points. */
void limit_random(uint64_t first, int64_t deals, int64_t totals[4]) {
  Chooser chooser = {.random = 1};
  int64_t moons = 0, points = 0;
  for (int64_t deal = 0; deal < deals; deal++) {
    Set hands[SEATS];
    Outcome out;
    chooser.state = mix(first + (uint64_t)deal);
    shuffle(&chooser.state, hands);
    play(&chooser, hands, OFFSETS[(first + (uint64_t)deal) % 4], &out);
    if (out.moon)
      moons++;
    else
      for (int seat = 0; seat < SEATS; seat++) points += out.points[seat];
  }
  totals[0] = (int64_t)chooser.decisions;
  totals[1] = moons;
  totals[2] = deals - moons;
  totals[3] = points;
}

/* Plays given hands [deals][4], deal number = id modulo 4, by the policy; points [deals][4], decisions [deals]. */
void limit_policy(const uint64_t *ids, const uint64_t *dealt, int64_t deals, int64_t *points, int64_t *decisions) {
  for (int64_t deal = 0; deal < deals; deal++) {
    Set hands[SEATS];
    Outcome out;
    Chooser chooser = {.random = 0, .id = ids[deal]};
    for (int seat = 0; seat < SEATS; seat++) hands[seat] = dealt[SEATS * deal + seat];
    play(&chooser, hands, OFFSETS[ids[deal] % 4], &out);
    for (int seat = 0; seat < SEATS; seat++) points[SEATS * deal + seat] = out.points[seat];
    decisions[deal] = (int64_t)chooser.decisions;
  }
}
