import { z } from 'zod';
import { httpUrl } from './environment.ts';
import { times } from './times.ts';

/** The samplers that OpenTelemetry's SDK knows by name. */
const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** The variables of traces, which every program of the service reads. */
export const tracingVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl().optional(),
  OTEL_EXPORTER_OTLP_HEADERS: pairs(),
  OTEL_TRACES_SAMPLER: z.enum(samplers, `must be one of ${samplers.join(', ')}`).default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number('must be a number').min(0, 'must be at least 0').max(1, 'must be at most 1').default(1),
};

/** Where spans go, and which. */
export type TracingConfig = ReturnType<typeof tracingOf>;

/** OpenTelemetry's SDK reads further variables itself: the name and attributes of the process, time limits, compression, certificates. */
export function tracingOf(e: z.output<z.ZodObject<typeof tracingVariables>>) {
  return {
    /** Where spans are sent, without the path of OTLP. Nothing is traced if it is undefined. */
    endpoint: e.OTEL_EXPORTER_OTLP_ENDPOINT,
    headers: e.OTEL_EXPORTER_OTLP_HEADERS,
    sampler: { name: e.OTEL_TRACES_SAMPLER, ratio: e.OTEL_TRACES_SAMPLER_ARG },
    batchDelayMs: times.spanExport,
  };
}

/** `name=value` pairs separated by commas, their values percent-encoded; none if the variable is absent. */
function pairs() {
  return z
    .string()
    .regex(/^[^=,]+=[^,]*(,[^=,]+=[^,]*)*$/, 'must be name=value, or several of them separated by commas')
    .refine(isPercentEncoded, 'must have percent-encoded values')
    .transform((value) => Object.fromEntries(value.split(',').map(toPair)))
    .default({});
}

function isPercentEncoded(value: string): boolean {
  try {
    return decodeURIComponent(value) !== '';
  } catch {
    return false;
  }
}

function toPair(pair: string): [string, string] {
  const [name = '', ...value] = pair.split('=');
  return [name.trim(), decodeURIComponent(value.join('=').trim())];
}
