#pragma once

/* Settings to change for a rig. README.md lists the pins. */

enum {
  CRYSTAL_MHZ = 8, /* of the board: 8 on most, 12 or 25 on some */
  BAUD_RATE = 921600,
  ENCODER_COUNT = 2,       /* 1 to 4 */
  ENCODERS_WITH_INDEX = 0, /* bit i: the index pulse of encoder i is wired, i = 0 or 1 */
  ENCODERS_WITH_HOME = 0,  /* bit i: the home switch of encoder i is wired, i = 0 or 1 */
  COUNTS_PER_TURN_0 = 4096,
  COUNTS_PER_TURN_1 = 4096,
  COUNTS_PER_TURN_2 = 4096,
  COUNTS_PER_TURN_3 = 4096,
  TTL_MS_MAX = 250
};
