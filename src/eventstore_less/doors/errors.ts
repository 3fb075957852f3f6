/** The errors that callers tell apart, and their codes. */

export { ServiceError, type ServiceErrorCode, serviceErrorCode } from "../service_error.ts";
export {
  NotAppliedError,
  StandbyAwaitedError,
  standbyAwaitedIn,
  StoreAwayError,
  StoreClosedError,
  StoreDamagedError,
  StoreError,
  StoreFailingError,
  StoreFullError,
  StoreReadOnlyError,
  StoreRefusedError,
  UnclearOutcomeError,
} from "../store/store_errors.ts";
