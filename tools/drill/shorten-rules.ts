import { parse, stringify } from 'yaml';

interface Rule {
  alert: string;
  expr: string;
  for: string;
}

/** A minute of an operator is a second of a drill. */
const scale = 60;
/** A fault of a drill ends after some seconds. */
const longestForSeconds = 5;
/** Two scrapes at least. */
const shortestWindowSeconds = 8;

/**
 * Thresholds that are times for which something was left undone, in seconds. Those of slow requests and of waits for a connection stay, and so
 * does that of housekeeping. The sweep runs once a minute here, too.
 */
const thresholds: Partial<Record<string, [from: string, to: string]>> = {
  SheafQueueOld: ['> 600', '> 10'],
  SheafOutboxLate: ['> 120', '> 2'],
  SheafObjectsRefused: ['> 3600', '> 2'],
  SheafMailsLate: ['> 600', '> 10'],
  SheafSweepLate: ['> 600', '> 150'],
};

/** The alert rules with all times shortened, for faults that last seconds. Throws if a threshold that it knows is no longer there. */
export function shortenRules(yaml: string): string {
  const { groups } = parse(yaml) as { groups: { name: string; rules: Rule[] }[] };
  return stringify({ groups: groups.map((group) => ({ ...group, rules: group.rules.map(shorten) })) });
}

function shorten(rule: Rule): Rule {
  const [from, to] = thresholds[rule.alert] ?? ['', ''];
  if (!rule.expr.includes(from)) throw new Error(`${rule.alert} no longer has its threshold ${from}.`);
  const expr = rule.expr.replace(from, to).replaceAll(/\[(\d+)m\]/g, (_, minutes) => `[${windowSeconds(Number(minutes))}s]`);
  return { ...rule, expr, for: `${Math.min(longestForSeconds, secondsOf(rule.for) / scale)}s` };
}

function windowSeconds(minutes: number): number {
  return Math.max(shortestWindowSeconds, (minutes * 60) / scale);
}

function secondsOf(duration: string): number {
  const [, count = '', unit = ''] = /^(\d+)([mh])$/.exec(duration) ?? [];
  if (unit === '') throw new Error(`This is no duration in minutes or hours: ${duration}`);
  return Number(count) * (unit === 'h' ? 3_600 : 60);
}
