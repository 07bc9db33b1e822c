import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

/** What one run of Schemathesis sent and found. All but `operations` count requests; one request may have several findings. */
export interface Findings {
  operations: number;
  requests: number;
  /** Answers with a status of 500 or more. */
  serverErrors: number;
  /** Answers whose status, headers, type or body the document does not have. */
  undocumented: number;
  /** Requests that the document forbids and the service accepted. */
  accepted: number;
  /** What the other checks found: requests refused though the document allows them, rows that live on after their deletion, … */
  other: number;
}

interface Scenario {
  recorder: {
    label: string;
    interactions?: Record<string, { response?: { status_code: number } }>;
    checks?: Record<string, { name: string; status: string }[]>;
  };
}

const checksOf = {
  undocumented: [
    'status_code_conformance',
    'content_type_conformance',
    'response_headers_conformance',
    'response_schema_conformance',
    'allow_header_conformance',
  ],
  accepted: ['negative_data_rejection', 'missing_required_header', 'ignored_auth'],
};
/** Counted by the status itself. */
const serverErrorCheck = 'not_a_server_error';
/** Scenarios of several operations, each of which has scenarios of its own, too. */
const statefulLabel = 'Stateful tests';

/** Counts what stands in Schemathesis's report of events, a JSON object in each line. */
export async function readFindings(eventsFile: string): Promise<Findings> {
  const findings: Findings = { operations: 0, requests: 0, serverErrors: 0, undocumented: 0, accepted: 0, other: 0 };
  const operations = new Set<string>();
  for await (const line of createInterface({ input: createReadStream(eventsFile), crlfDelay: Number.POSITIVE_INFINITY })) {
    const scenario: Scenario | undefined = JSON.parse(line).ScenarioFinished;
    if (!scenario) continue;
    const { label, interactions = {}, checks = {} } = scenario.recorder;
    const answers = Object.values(interactions);
    findings.requests += answers.length;
    if (answers.length > 0 && label !== statefulLabel) operations.add(label);
    findings.serverErrors += answers.filter(({ response }) => response !== undefined && response.status_code >= 500).length;
    for (const results of Object.values(checks)) count(results, findings);
  }
  return { ...findings, operations: operations.size };
}

function count(results: { name: string; status: string }[], findings: Findings): void {
  const failed = results.filter(({ status }) => status !== 'success').map(({ name }) => name);
  const isIn = (group: string[]) => failed.some((name) => group.includes(name));
  const known = [...checksOf.undocumented, ...checksOf.accepted, serverErrorCheck];
  if (isIn(checksOf.undocumented)) findings.undocumented++;
  if (isIn(checksOf.accepted)) findings.accepted++;
  if (failed.some((name) => !known.includes(name))) findings.other++;
}

/** Whether requests were sent and nothing was found. */
export function isClean({ requests, serverErrors, undocumented, accepted, other }: Findings): boolean {
  return requests > 0 && serverErrors + undocumented + accepted + other === 0;
}
