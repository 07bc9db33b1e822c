export const traceCategories = ['toplevel', 'benchmark', 'cc', 'devtools.timeline', 'disabled-by-default-devtools.timeline'];

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  dur?: number;
  args?: { name?: string; chrome_frame_reporter?: { state?: string }; frame_reporter?: { state?: string } };
}

/** What a trace of Chromium says of a page: its longest task, in milliseconds, and how many of its frames were dropped, in percent. */
export function readTrace(trace: Buffer): { longestTaskMs: number; droppedPercent: number } {
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] };
  const threads = traceEvents.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain');
  const isMain = ({ pid, tid }: TraceEvent) => threads.some((thread) => thread.pid === pid && thread.tid === tid);
  const tasks = traceEvents.filter((event) => event.name.endsWith('RunTask') && event.dur !== undefined && isMain(event));
  const states = traceEvents.flatMap(({ name, args }) => {
    const reporter = args?.chrome_frame_reporter ?? args?.frame_reporter;
    return name === 'PipelineReporter' && reporter?.state ? [reporter.state] : [];
  });
  const dropped = states.filter((state) => state === 'STATE_DROPPED').length;
  return {
    longestTaskMs: Math.max(0, ...tasks.map(({ dur = 0 }) => dur / 1_000)),
    droppedPercent: states.length === 0 ? 0 : (dropped / states.length) * 100,
  };
}
