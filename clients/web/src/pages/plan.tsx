import { Alert, Button, Group, Paper, Stack, Text } from '@mantine/core';
import type { Contract, OutputOf } from '@sheaf/client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Failure } from '../components/failure.tsx';
import { Loaded } from '../components/loaded.tsx';
import { PageHead } from '../components/page-head.tsx';
import { PaperTitle } from '../components/titles.tsx';
import { ask, auth, service } from '../service.ts';
import { formatBytes, formatDay, formatNumber, t } from '../text.ts';

const route = getRouteApi('/o/$organization/$workspace/admins/plan');

type Billing = OutputOf<Contract['billing']['status']>;

/** The plan of the organization, and the ways to another one and to its payment. */
export default function Plan() {
  const organizationId = route.useRouteContext().organization.id;
  const billing = useQuery({
    queryKey: ['billing', organizationId],
    queryFn: ({ signal }) => service.billing.status({ organizationId }, { signal }),
  });
  return (
    <>
      <PageHead title={t.nav.pages.plan} />
      <Loaded query={billing}>{(status) => (status.enabled ? <Known billing={status} /> : <Text>{t.plan.off}</Text>)}</Loaded>
    </>
  );
}

function Known({ billing: { plan, limits, byHand, subscription, paymentFailed, overLimit } }: { billing: Billing }) {
  const name = plan ?? 'free';
  // A plan by hand ends: it can be bought meanwhile.
  const paid = subscription && ['active', 'trialing', 'past_due'].includes(subscription.status) ? subscription.plan : null;
  return (
    <Stack gap="md">
      <Text>{t.plan.current(t.plan.names[name])}</Text>
      {subscription && <Text c="dimmed">{[t.plan.states[subscription.status], ...endOf(subscription)].join(' · ')}</Text>}
      {byHand && <Text className="foreign">{t.plan.byHand(formatDay(byHand.until), byHand.reason)}</Text>}
      {paymentFailed && (
        <Alert variant="default" role="alert" className="failure">
          {t.plan.paymentFailed}
        </Alert>
      )}
      {overLimit.map(({ kind, current, limit }) => (
        <Alert key={kind} variant="default" role="alert" className="failure">
          {t.plan.over(t.plan.kinds[kind], current, limit)}
        </Alert>
      ))}
      {limits && (
        <Paper withBorder p="md" component="section">
          <PaperTitle>{t.plan.limits}</PaperTitle>
          <Text>{t.plan.credits(formatNumber(limits.aiCredits))}</Text>
          <Text>{t.plan.members(formatNumber(limits.members))}</Text>
          <Text>{t.plan.workspaces(formatNumber(limits.workspaces))}</Text>
          <Text>{t.plan.storage(formatBytes(limits.storageBytes))}</Text>
        </Paper>
      )}
      <Ways plan={byHand?.plan ? paid : name} isCustomer={subscription !== null} />
    </Stack>
  );
}

function endOf({ cancelAt, periodEnd, cancelAtPeriodEnd }: NonNullable<Billing['subscription']>): string[] {
  const end = cancelAt ?? (cancelAtPeriodEnd ? periodEnd : null);
  if (end) return [t.plan.ends(formatDay(end))];
  return periodEnd ? [t.plan.until(formatDay(periodEnd))] : [];
}

function Ways({ plan, isCustomer }: { plan: string | null; isCustomer: boolean }) {
  const organizationId = route.useRouteContext().organization.id;
  const here = window.location.pathname;
  // The payment provider's pages: the way back leads here.
  const go = useMutation({
    mutationFn: async (to: { path: '/subscription/upgrade'; plan: string } | { path: '/subscription/billing-portal' }) => {
      const { path, ...rest } = to;
      const body = { ...rest, referenceId: organizationId, successUrl: here, cancelUrl: here, returnUrl: here, disableRedirect: true };
      const { url } = await ask(auth.$fetch<{ url: string }>(path, { method: 'POST', body }));
      window.location.assign(url);
    },
  });
  return (
    <>
      <Failure error={go.error} />
      <Group gap="xs">
        {(['pro', 'team'] as const)
          .filter((each) => each !== plan)
          .map((each) => (
            <Button key={each} loading={go.isPending} onClick={() => go.mutate({ path: '/subscription/upgrade', plan: each })}>
              {t.plan.choose(t.plan.names[each])}
            </Button>
          ))}
        {isCustomer && (
          <Button variant="default" loading={go.isPending} onClick={() => go.mutate({ path: '/subscription/billing-portal' })}>
            {t.plan.portal}
          </Button>
        )}
      </Group>
    </>
  );
}
