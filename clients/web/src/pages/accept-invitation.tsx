import { Alert, Button, Group, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { CardPage } from '../components/card-page.tsx';
import { Failure } from '../components/failure.tsx';
import { ButtonTo } from '../components/link-to.tsx';
import { SignedIn } from '../components/signed-in.tsx';
import { Waiting } from '../components/waiting.tsx';
import { queryClient, sessionQuery } from '../queries.ts';
import { roleIn } from '../roles.ts';
import { ask, auth } from '../service.ts';
import { t } from '../text.ts';

const route = getRouteApi('/accept-invitation/$id');

/** Where the mail of an invitation leads. */
export default function AcceptInvitation() {
  const { id } = route.useParams();
  const { data: session } = useQuery(sessionQuery);
  return <CardPage title={t.invitation.title}>{session ? <Answer id={id} /> : <ComeIn id={id} />}</CardPage>;
}

interface Names {
  organizationName: string;
  inviterName: string;
}

function ComeIn({ id }: { id: string }) {
  const next = `/accept-invitation/${id}`;
  const names = useQuery({
    queryKey: ['invitation-names', id],
    queryFn: () => ask(auth.$fetch<Names>('/organization/get-invitation-names', { query: { id } })),
  });
  if (names.isPending) return <Waiting />;
  return (
    <>
      {names.error ? <Failure error={names.error} retry={() => void names.refetch()} /> : <Offer {...names.data} />}
      <Group>
        <ButtonTo to="/sign-in" search={{ next }}>
          {t.sign.in}
        </ButtonTo>
        <ButtonTo to="/sign-up" search={{ next }} variant="default">
          {t.sign.up}
        </ButtonTo>
      </Group>
    </>
  );
}

function Offer({ organizationName, inviterName }: Names) {
  return (
    <>
      <Text className="foreign">{t.invitation.text(organizationName, inviterName)}</Text>
      <Text>{t.invitation.signIn}</Text>
    </>
  );
}

function Answer({ id }: { id: string }) {
  const navigate = useNavigate();
  const invitation = useQuery({ queryKey: ['invitation', id], queryFn: () => ask(auth.organization.getInvitation({ query: { id } })) });
  const accept = useMutation({
    mutationFn: async () => {
      await ask(auth.organization.acceptInvitation({ invitationId: id }));
      await queryClient.invalidateQueries({ queryKey: ['organizations'] });
      const organization = invitation.data?.organizationSlug;
      await navigate(organization ? { to: '/o/$organization', params: { organization } } : { to: '/' });
    },
  });
  const reject = useMutation({ mutationFn: () => ask(auth.organization.rejectInvitation({ invitationId: id })) });
  if (invitation.isPending) return <Waiting />;
  if (invitation.error)
    return (
      <>
        <Failure error={invitation.error} retry={() => void invitation.refetch()} />
        <WaysOn />
      </>
    );
  if (reject.isSuccess)
    return (
      <>
        <Alert variant="default">{t.invitation.rejected}</Alert>
        <WaysOn />
      </>
    );
  const { organizationName, inviterEmail, role } = invitation.data;
  return (
    <>
      <Text className="foreign">{t.invitation.text(organizationName, inviterEmail)}</Text>
      <Text c="dimmed">{t.invitation.role(t.members.roles[roleIn(role)])}</Text>
      <Failure error={accept.error ?? reject.error} />
      <Group>
        <Button loading={accept.isPending} onClick={() => accept.mutate()}>
          {t.invitation.accept}
        </Button>
        <Button variant="default" loading={reject.isPending} onClick={() => reject.mutate()}>
          {t.invitation.reject}
        </Button>
      </Group>
    </>
  );
}

/** Where to go without the invitation, which may be for another address than that of the session. */
function WaysOn() {
  return (
    <SignedIn>
      <ButtonTo to="/">{t.common.home}</ButtonTo>
    </SignedIn>
  );
}
