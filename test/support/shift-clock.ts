// Loaded before a program (`--import`): moves its wall clock by CLOCK_SHIFT_MS, as on a host whose clock is wrong.
const shiftMs = Number(process.env.CLOCK_SHIFT_MS ?? 0);
const RealDate = globalThis.Date;

globalThis.Date = class extends RealDate {
  constructor(...args: []) {
    if (args.length === 0) super(RealDate.now() + shiftMs);
    else super(...args);
  }

  static override now(): number {
    return RealDate.now() + shiftMs;
  }
} as DateConstructor;
