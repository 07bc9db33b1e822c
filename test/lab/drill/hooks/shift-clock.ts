// Imported before the program: its `Date` is wrong by DRILL_CLOCK_SHIFT_MS.
const shiftMs = Number(process.env.DRILL_CLOCK_SHIFT_MS ?? 0);
const { now } = Date;
const shiftedNow = () => now() + shiftMs;

globalThis.Date = new Proxy(Date, {
  construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [shiftedNow()] : args, newTarget) as Date,
  apply: (target) => new target(shiftedNow()).toString(),
  get: (target, name) => (name === 'now' ? shiftedNow : Reflect.get(target, name)),
});
