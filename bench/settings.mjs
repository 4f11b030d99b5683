// SPDX-License-Identifier: MIT OR Apache-2.0
// How much each profile measures. `quick` ends within five minutes on two cores, for both hosts together, and has as many rounds as
// that allows. `full` is for figures to quote: 40 rounds and more, fewer only where a round takes long.

export const profiles = {
  quick: {
    callRounds: 15,
    gapRounds: 20,
    flightRounds: 4,
    studentsRounds: 3,
    hugeRounds: 0,
    scanRounds: 15,
    startRounds: 9,
    streamRounds: 5,
    codecRounds: 60,
    nativeRounds: 30,
    frameSeconds: 5,
    frameWarmSeconds: 0.5,
    eventRounds: 3,
  },
  full: {
    callRounds: 60,
    gapRounds: 100,
    flightRounds: 15,
    studentsRounds: 9,
    hugeRounds: 3,
    scanRounds: 40,
    startRounds: 25,
    streamRounds: 21,
    codecRounds: 300,
    nativeRounds: 150,
    frameSeconds: 60,
    frameWarmSeconds: 20,
    eventRounds: 9,
  },
};
