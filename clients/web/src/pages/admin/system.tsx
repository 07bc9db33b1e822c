import { Button, Paper, SimpleGrid, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type Outage, outagesQuery, type Stuck, type SystemStatus, stuckQuery, systemQuery } from '../../admin-queries.ts';
import { Empty } from '../../components/empty.tsx';
import { Foreign } from '../../components/foreign.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Rows } from '../../components/rows.tsx';
import { StateMark } from '../../components/state-mark.tsx';
import { TaskButton } from '../../components/task-button.tsx';
import { TimeCell } from '../../components/time.tsx';
import { Subtitle } from '../../components/titles.tsx';
import { WorkflowLink } from '../../components/workflow-link.tsx';
import { queryClient } from '../../queries.ts';
import { service } from '../../service.ts';
import { formatNumber, formatRelative, t } from '../../text.ts';

/** How the deployment is doing, what is down, and what is stuck in it. */
export default function System() {
  const status = useQuery(systemQuery);
  const outages = useQuery(outagesQuery);
  const stuck = useQuery(stuckQuery);
  return (
    <>
      <PageHead title={t.admin.pages.system}>
        <Button
          variant="default"
          loading={status.isFetching || stuck.isFetching}
          onClick={() => void queryClient.invalidateQueries({ queryKey: ['admin'] })}
        >
          {t.admin.lookAgain}
        </Button>
      </PageHead>
      <Loaded query={status}>{(data) => <Parts status={data} />}</Loaded>
      <Subtitle>{t.admin.down}</Subtitle>
      <Loaded query={outages}>
        {({ items }) => (items.length === 0 ? <Empty text={t.admin.nothingDown} /> : <OutageTable outages={items} />)}
      </Loaded>
      <Subtitle>{t.admin.stuck}</Subtitle>
      <Loaded query={stuck}>
        {(data) => (data.items.length === 0 ? <Empty text={t.admin.nothingStuck} /> : <StuckTable stuck={data} />)}
      </Loaded>
    </>
  );
}

interface Part {
  name: string;
  /** Whether it does what it should. */
  ok: boolean;
  /** What there is to say, each a line. */
  says: (string | null | undefined | false)[];
}

function Parts({ status }: { status: SystemStatus }) {
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="md">
      {partsOf(status).map(({ name, ok, says }) => (
        <Paper key={name} withBorder p="md" component="section">
          <Title order={2} size="h5" mb={4}>
            {name}
          </Title>
          <StateMark tone={ok ? 'good' : 'bad'}>{ok ? t.admin.works : t.admin.hasProblem}</StateMark>
          {says.map(
            (line) =>
              line && (
                <Foreign key={line} c="dimmed">
                  {line}
                </Foreign>
              ),
          )}
        </Paper>
      ))}
    </SimpleGrid>
  );
}

function partsOf({
  version,
  environment,
  runtime,
  startedAt,
  counts,
  database,
  ai,
  search,
  queue,
  storage,
  billing,
  email,
}: SystemStatus): Part[] {
  const { migrations } = database;
  const s = t.admin.says;
  return [
    {
      name: s.service,
      ok: true,
      says: [
        `${version} · ${environment} · ${runtime}`,
        s.since(formatRelative(startedAt)),
        s.counts(counts.users, counts.organizations, counts.workspaces),
      ],
    },
    {
      name: s.database,
      ok: database.ok && migrations?.pending.length === 0,
      says: [
        database.error,
        database.latencyMs !== null && s.latency(formatNumber(database.latencyMs)),
        migrations && s.migrations(migrations.applied, migrations.shipped),
        migrations && migrations.pending.length > 0 && s.pending(migrations.pending.join(', ')),
      ],
    },
    {
      name: s.ai,
      ok: ai.ok,
      says: [
        ai.error,
        ...ai.problems,
        ai.latencyMs !== null && s.latency(formatNumber(ai.latencyMs)),
        [ai.provider, ai.ocr].filter(Boolean).join(' · '),
      ],
    },
    {
      name: s.queue,
      ok: queue.depth !== null,
      says: [
        queue.depth !== null && s.waiting(queue.depth, queue.running ?? 0),
        queue.oldestQueuedAt && s.oldest(formatRelative(queue.oldestQueuedAt)),
        queue.failed !== null && s.failed(queue.failed),
      ],
    },
    {
      name: s.search,
      ok: search.documentsBehind === 0 || search.documentsBehind === null,
      says: [
        search.model,
        search.documents !== null && s.indexed(search.documents),
        !!search.documentsBehind && s.behind(search.documentsBehind),
      ],
    },
    {
      name: s.setup,
      ok: billing.unpricedPlans.length === 0,
      says: [
        `${storage.driver} · ${storage.location}`,
        `${email.provider} · ${email.from}`,
        billing.enabled ? s.billingOn : s.billingOff,
        billing.unpricedPlans.length > 0 && s.unpriced(billing.unpricedPlans.join(', ')),
      ],
    },
  ];
}

function OutageTable({ outages }: { outages: Outage[] }) {
  return (
    <Rows
      heads={[t.admin.part, t.admin.cause, t.admin.since, t.admin.nextProbe, { number: t.admin.jobsWaiting }, { number: t.common.actions }]}
    >
      {outages.map(({ part, cause, since, nextProbeAt, waiting }) => (
        <Table.Tr key={part}>
          <Table.Td>
            <Text fw={550}>{t.admin.parts[part]}</Text>
          </Table.Td>
          <Table.Td>{t.admin.causes[cause] ?? cause}</Table.Td>
          <TimeCell at={since} label={t.admin.since} />
          <TimeCell at={nextProbeAt} label={t.admin.nextProbe} />
          <Table.Td className="number" data-label={t.admin.jobsWaiting}>
            {formatNumber(waiting)}
          </Table.Td>
          <Table.Td>
            <TaskButton
              task={() => service.admin.system.endOutage({ part })}
              changes={['admin']}
              label={t.admin.endOutageOf(t.admin.parts[part])}
            >
              {t.admin.endOutage}
            </TaskButton>
          </Table.Td>
        </Table.Tr>
      ))}
    </Rows>
  );
}

function StuckTable({ stuck: { items, jobWorkflowUrl } }: { stuck: Stuck }) {
  const since = (seconds: number) => formatRelative(new Date(Date.now() - seconds * 1_000).toISOString());
  return (
    <Rows heads={[t.admin.what, t.admin.since, t.admin.reason]}>
      {items.map(({ what, id, organizationId, ageSeconds, reason }) => (
        <Table.Tr key={`${what} ${id}`}>
          <Table.Td>
            <Text fw={550}>{what}</Text>
            <Foreign c="dimmed">{id}</Foreign>
            {organizationId && <Foreign c="dimmed">{t.admin.ofOrganization(organizationId)}</Foreign>}
          </Table.Td>
          <Table.Td>{since(ageSeconds)}</Table.Td>
          <Table.Td className="foreign">
            {reason} {what.endsWith(' job') && <WorkflowLink url={jobWorkflowUrl} jobId={id} />}
          </Table.Td>
        </Table.Tr>
      ))}
    </Rows>
  );
}
