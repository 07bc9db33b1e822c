/** Times of outages that no test waits for. */
export const outageTimes = { probeDelaysMs: [5_000], slotMs: 1_000, longestWaitMs: 3_600_000, leaseMs: 5_000 };
