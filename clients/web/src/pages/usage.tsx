import { Paper, Progress, SimpleGrid, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Costs } from '../components/costs.tsx';
import { Failure } from '../components/failure.tsx';
import { Features } from '../components/features.tsx';
import { Lacks } from '../components/lacks.tsx';
import { PageHead } from '../components/page-head.tsx';
import { UsageChart } from '../components/usage-chart.tsx';
import { Waiting } from '../components/waiting.tsx';
import { service } from '../service.ts';
import { formatBytes, formatDay, formatNumber, t } from '../text.ts';

const route = getRouteApi('/o/$organization/$workspace/usage');

/** What the organization uses of its plan, and the workspace of its storage. */
export default function Usage() {
  const place = route.useRouteContext();
  const { organization, workspace, isAdmin } = place;
  const organizationId = organization.id;
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['usage', organizationId, workspace.slug],
    queryFn: async ({ signal }) => {
      const [used, { storage }] = await Promise.all([
        service.organizations.usage({ organizationId }, { signal }),
        service.workspaces.get({ organizationId, slug: workspace.slug }, { signal }),
      ]);
      return { ...used, storage };
    },
  });
  return (
    <>
      <PageHead title={t.nav.pages.usage}>
        {data && <Text c="dimmed">{t.usage.period(formatDay(data.period.start), formatDay(lastOf(data.period)))}</Text>}
      </PageHead>
      {isPending && <Waiting />}
      <Failure error={error} retry={() => void refetch()} />
      {data && (
        <>
          <Text mb="md">{data.plan ? t.usage.plan(data.plan) : t.usage.free}</Text>
          <SimpleGrid cols={{ base: 2, sm: 5 }} spacing="md">
            <Amount what={t.usage.credits} used={data.usage.aiCredits} limit={data.limits?.aiCredits} />
            <Amount what={t.usage.storage} used={data.storage.usedBytes} limit={data.storage.limitBytes} format={formatBytes} />
            <Amount what={t.nav.pages.workspaces} used={data.usage.workspaces} limit={data.limits?.workspaces} />
            <Amount what={t.nav.pages.members} used={data.usage.members} limit={data.limits?.members} />
            <Amount what={t.members.invitations} used={data.usage.pendingInvitations} limit={undefined} />
          </SimpleGrid>
        </>
      )}
      <Lacks permission="billing:read" />
      {isAdmin && <UsageChart organizationId={organizationId} />}
      {isAdmin && <Costs place={place} />}
      <Features organizationId={organizationId} />
    </>
  );
}

/** The last moment of a period, which ends before its end. */
const lastOf = ({ end }: { end: string }) => new Date(Date.parse(end) - 1).toISOString();

interface AmountProps {
  what: string;
  used: number;
  limit: number | null | undefined;
  format?: (amount: number) => string;
}

function Amount({ what, used, limit, format = formatNumber }: AmountProps) {
  const percent = limit ? Math.min(100, (used / limit) * 100) : 0;
  return (
    <Paper withBorder p="md">
      <Text c="dimmed">{what}</Text>
      <Text size="xl" fw={650} className="amount">
        {limit == null ? format(used) : t.common.of(format(used), format(limit))}
      </Text>
      {limit == null ? (
        <Text c="dimmed">{t.usage.noLimit}</Text>
      ) : (
        <Progress.Root size="md" mt="xs">
          <Progress.Section value={percent} aria-label={t.usage.bar(what)} color={percent >= 90 ? 'red' : 'blue'} />
        </Progress.Root>
      )}
    </Paper>
  );
}
