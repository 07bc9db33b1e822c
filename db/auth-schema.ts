/** The columns of better-auth's tables that the project's own queries read. */
export interface AuthTables {
  user: {
    id: string;
    name: string;
    email: string;
    emailVerified: boolean;
    image: string | null;
    role: string | null;
    banned: boolean | null;
    banExpires: Date | null;
    createdAt: Date;
    updatedAt: Date;
  };
  session: {
    id: string;
    token: string;
    userId: string;
    expiresAt: Date;
    impersonatedBy: string | null;
    activeOrganizationId: string | null;
  };
  organization: { id: string; name: string; slug: string; createdAt: Date; stripeCustomerId: string | null };
  member: { id: string; organizationId: string; userId: string; role: string; createdAt: Date };
  invitation: { id: string; organizationId: string; email: string; role: string | null; status: string; expiresAt: Date };
  team: { id: string; name: string; organizationId: string };
  subscription: {
    id: string;
    plan: string;
    referenceId: string;
    stripeCustomerId: string | null;
    stripeSubscriptionId: string | null;
    status: string;
    periodStart: Date | null;
    periodEnd: Date | null;
    trialEnd: Date | null;
    cancelAtPeriodEnd: boolean | null;
    cancelAt: Date | null;
    seats: number | null;
    billingInterval: string | null;
  };
}
