import IconLock from '@tabler/icons-react/icons/IconLock';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { membersQuery } from '../member-queries.ts';
import { roleQuery } from '../queries.ts';
import { roleIn } from '../roles.ts';
import { formatList, t } from '../text.ts';
import { Foreign } from './foreign.tsx';

const route = getRouteApi('/o/$organization/$workspace');

/** Says which permission the user's role lacks, and who can give another one. Nothing for those who have it. */
export function Lacks({ permission }: { permission: keyof typeof t.lacks.permissions }) {
  const { organization, isAdmin, isOwner } = route.useRouteContext();
  const may = permission === 'organization:delete' ? isOwner : isAdmin;
  const router = useRouter();
  const held = isOwner ? 'owner' : isAdmin ? 'admin' : 'member';
  const { data: given = held } = useQuery({ ...roleQuery(organization.id), staleTime: 0, enabled: !may });
  // Somebody has given another role meanwhile: the page, too, is to know it.
  useEffect(() => {
    if (given !== held) void router.invalidate();
  }, [given, held, router]);
  const { data } = useInfiniteQuery({ ...membersQuery(organization.id), enabled: !may });
  if (may) return null;
  const members = data?.pages.flatMap((page) => page.members) ?? [];
  const role = permission === 'organization:delete' ? ['owner'] : ['owner', 'admin'];
  const givers = members.filter((member) => role.includes(roleIn(member.role))).map(({ user }) => user.name);
  return (
    <Foreign c="dimmed" my="md">
      <IconLock size={16} aria-hidden className="icon" />{' '}
      {t.lacks.says(t.members.roles[isAdmin ? 'admin' : 'member'], t.lacks.permissions[permission], permission)}{' '}
      {givers.length > 0 && t.lacks.givers(formatList(givers))}
    </Foreign>
  );
}
