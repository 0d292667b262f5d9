// SPDX-License-Identifier: BSD-2-Clause
/*
 * Compares the declarations of nvml_library.h with NVIDIA's header: compiled, never linked, by
 * tests/servers/test_nvml.py.
 */
#include <nvml.h>

#include "measure/nvml_library.h"

#define SAME(ours, theirs)                                                                         \
	_Static_assert((long long)(ours) == (long long)(theirs), #ours " is not " #theirs)
#define SAME_SIZE(ours, theirs) SAME(sizeof(struct ours), sizeof(theirs))
#define SAME_PLACE(ours, member, theirs, their_member)                                             \
	SAME(offsetof(struct ours, member), offsetof(theirs, their_member));                       \
	SAME(sizeof(((struct ours *)0)->member), sizeof(((theirs *)0)->their_member))

SAME(sizeof(unsigned int), sizeof(nvmlReturn_t));
SAME(sizeof(unsigned int), sizeof(nvmlEnableState_t));
SAME(sizeof(unsigned int), sizeof(nvmlClockType_t));
SAME(sizeof(unsigned int), sizeof(nvmlMemoryErrorType_t));
SAME(sizeof(unsigned int), sizeof(nvmlEccCounterType_t));
SAME(sizeof(void *), sizeof(nvmlDevice_t));
SAME(sizeof(void *), sizeof(nvmlEventSet_t));

SAME(NVML_OK, NVML_SUCCESS);
SAME(NVML_NOT_INITIALIZED, NVML_ERROR_UNINITIALIZED);
SAME(NVML_BAD_ARGUMENT, NVML_ERROR_INVALID_ARGUMENT);
SAME(NVML_UNSUPPORTED, NVML_ERROR_NOT_SUPPORTED);
SAME(NVML_FORBIDDEN, NVML_ERROR_NO_PERMISSION);
SAME(NVML_NOT_THERE, NVML_ERROR_NOT_FOUND);
SAME(NVML_NO_ROOM, NVML_ERROR_INSUFFICIENT_SIZE);
SAME(NVML_NO_DRIVER, NVML_ERROR_DRIVER_NOT_LOADED);
SAME(NVML_TIMED_OUT, NVML_ERROR_TIMEOUT);
SAME(NVML_NO_LIBRARY, NVML_ERROR_LIBRARY_NOT_FOUND);
SAME(NVML_NO_FUNCTION, NVML_ERROR_FUNCTION_NOT_FOUND);
SAME(NVML_DEVICE_LOST, NVML_ERROR_GPU_IS_LOST);
SAME(NVML_BLOCKED, NVML_ERROR_OPERATING_SYSTEM);
SAME(NVML_OTHER_VERSION, NVML_ERROR_LIB_RM_VERSION_MISMATCH);
SAME(NVML_BAD_VERSION, NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
SAME(NVML_UNKNOWN, NVML_ERROR_UNKNOWN);

SAME(NVML_NO_VALUE, (unsigned long long)NVML_VALUE_NOT_AVAILABLE);
SAME(NVML_NO_PERCENT, (unsigned int)NVML_VALUE_NOT_AVAILABLE);
SAME(NVML_CLOCK_OF_SM, NVML_CLOCK_SM);
SAME(NVML_ECC_UNCORRECTED, NVML_MEMORY_ERROR_TYPE_UNCORRECTED);
SAME(NVML_ECC_SINCE_LOAD, NVML_VOLATILE_ECC);
SAME(NVML_EVENT_XID, nvmlEventTypeXidCriticalError);
SAME(NVML_MEMORY_VERSION, nvmlMemory_v2);
SAME(NVML_TEXT, NVML_DEVICE_NAME_V2_BUFFER_SIZE);
SAME(NVML_TEXT, NVML_DEVICE_UUID_V2_BUFFER_SIZE);
SAME(NVML_SLOWED_BY_POWER, nvmlClocksThrottleReasonSwPowerCap);
SAME(NVML_SLOWED_BY_HARDWARE, nvmlClocksThrottleReasonHwSlowdown);
SAME(NVML_SLOWED_BY_HEAT, nvmlClocksThrottleReasonSwThermalSlowdown);
SAME(NVML_SLOWED_BY_HARDWARE_HEAT, nvmlClocksThrottleReasonHwThermalSlowdown);
SAME(NVML_SLOWED_BY_POWER_BRAKE, nvmlClocksThrottleReasonHwPowerBrakeSlowdown);
SAME(1, NVML_FEATURE_ENABLED);
SAME(1, NVML_DEVICE_MIG_ENABLE);

SAME_SIZE(nvml_rates, nvmlUtilization_t);
SAME_PLACE(nvml_rates, busy, nvmlUtilization_t, gpu);
SAME_PLACE(nvml_rates, memory_busy, nvmlUtilization_t, memory);

SAME_SIZE(nvml_memory, nvmlMemory_t);
SAME_PLACE(nvml_memory, total, nvmlMemory_t, total);
SAME_PLACE(nvml_memory, used, nvmlMemory_t, used);

SAME_SIZE(nvml_memory_v2, nvmlMemory_v2_t);
SAME_PLACE(nvml_memory_v2, version, nvmlMemory_v2_t, version);
SAME_PLACE(nvml_memory_v2, total, nvmlMemory_v2_t, total);
SAME_PLACE(nvml_memory_v2, reserved, nvmlMemory_v2_t, reserved);
SAME_PLACE(nvml_memory_v2, used, nvmlMemory_v2_t, used);

SAME_SIZE(nvml_process_v1, nvmlProcessInfo_v1_t);
SAME_PLACE(nvml_process_v1, pid, nvmlProcessInfo_v1_t, pid);
SAME_PLACE(nvml_process_v1, memory, nvmlProcessInfo_v1_t, usedGpuMemory);

SAME_SIZE(nvml_process_v2, nvmlProcessInfo_v2_t);
SAME_SIZE(nvml_process_v2, nvmlProcessInfo_t); /* of _v3 */
SAME_PLACE(nvml_process_v2, pid, nvmlProcessInfo_t, pid);
SAME_PLACE(nvml_process_v2, memory, nvmlProcessInfo_t, usedGpuMemory);
SAME_PLACE(nvml_process_v2, gpu_instance, nvmlProcessInfo_t, gpuInstanceId);
SAME_PLACE(nvml_process_v2, compute_instance, nvmlProcessInfo_t, computeInstanceId);

SAME_SIZE(nvml_sample, nvmlProcessUtilizationSample_t);
SAME_PLACE(nvml_sample, pid, nvmlProcessUtilizationSample_t, pid);
SAME_PLACE(nvml_sample, epoch_us, nvmlProcessUtilizationSample_t, timeStamp);
SAME_PLACE(nvml_sample, busy, nvmlProcessUtilizationSample_t, smUtil);
SAME_PLACE(nvml_sample, memory_busy, nvmlProcessUtilizationSample_t, memUtil);
SAME(NVML_ENTRY, sizeof(nvmlProcessUtilizationSample_t));

SAME_SIZE(nvml_stats, nvmlAccountingStats_t);
SAME_PLACE(nvml_stats, busy, nvmlAccountingStats_t, gpuUtilization);
SAME_PLACE(nvml_stats, memory_busy, nvmlAccountingStats_t, memoryUtilization);
SAME_PLACE(nvml_stats, memory_peak, nvmlAccountingStats_t, maxMemoryUsage);
SAME_PLACE(nvml_stats, time_ms, nvmlAccountingStats_t, time);
SAME_PLACE(nvml_stats, start_us, nvmlAccountingStats_t, startTime);
SAME_PLACE(nvml_stats, is_running, nvmlAccountingStats_t, isRunning);

SAME_SIZE(nvml_event, nvmlEventData_t);
SAME_PLACE(nvml_event, device, nvmlEventData_t, device);
SAME_PLACE(nvml_event, type, nvmlEventData_t, eventType);
SAME_PLACE(nvml_event, data, nvmlEventData_t, eventData);
SAME_PLACE(nvml_event, gpu_instance, nvmlEventData_t, gpuInstanceId);

/*
 * Arguments: a call of NVIDIA's function with arguments of our types compiles without a warning,
 * but for enums and for structures that are compared above.
 */
void nvml_calls_compile(const struct nvml_library *l, void *device, void *set, char *text,
			unsigned int *number, unsigned long long *large, void **handle);
void nvml_calls_compile(const struct nvml_library *l, void *device, void *set, char *text,
			unsigned int *number, unsigned long long *large, void **handle)
{
	void *any = device; /* of structures */

	*number = l->init() + nvmlInit_v2() + l->shutdown() + nvmlShutdown();
	*number = l->device_count(number) + nvmlDeviceGetCount_v2(number);
	*number =
		l->device_at(0, handle) + nvmlDeviceGetHandleByIndex_v2(0, (nvmlDevice_t *)handle);
	*number = l->uuid(device, text, 1) + nvmlDeviceGetUUID(device, text, 1);
	*number = l->model(device, text, 1) + nvmlDeviceGetName(device, text, 1);
	*number = l->minor_number(device, number) + nvmlDeviceGetMinorNumber(device, number);
	*number =
		l->mig_mode(device, number, number) + nvmlDeviceGetMigMode(device, number, number);
	*number = l->mig_most(device, number) + nvmlDeviceGetMaxMigDeviceCount(device, number);
	*number = l->mig_at(device, 0, handle) +
		  nvmlDeviceGetMigDeviceHandleByIndex(device, 0, (nvmlDevice_t *)handle);
	*number = l->gpu_instance(device, number) + nvmlDeviceGetGpuInstanceId(device, number);
	*number = l->compute_instance(device, number) +
		  nvmlDeviceGetComputeInstanceId(device, number);
	*number = l->rates(device, any) + nvmlDeviceGetUtilizationRates(device, any);
	*number = l->memory(device, any) + nvmlDeviceGetMemoryInfo(device, any);
	*number = l->memory_v2(device, any) + nvmlDeviceGetMemoryInfo_v2(device, any);
	*number = l->power(device, number) + nvmlDeviceGetPowerUsage(device, number);
	*number = l->clock(device, 1, number) + nvmlDeviceGetClockInfo(device, 1, number);
	*number = l->throttle_reasons(device, large) +
		  nvmlDeviceGetCurrentClocksThrottleReasons(device, large);
	*number = l->processes[0][2](device, number, any) +
		  nvmlDeviceGetComputeRunningProcesses_v3(device, number, any) +
		  nvmlDeviceGetGraphicsRunningProcesses_v3(device, number, any);
	*number = l->samples(device, any, number, 0) +
		  nvmlDeviceGetProcessUtilization(device, any, number, 0);
	*number = l->energy(device, large) + nvmlDeviceGetTotalEnergyConsumption(device, large);
	*number = l->ecc(device, 1, 0, large) + nvmlDeviceGetTotalEccErrors(device, 1, 0, large);
	*number = l->events_make(handle) + nvmlEventSetCreate((nvmlEventSet_t *)handle);
	*number = l->events_register(device, *large, set) +
		  nvmlDeviceRegisterEvents(device, *large, set);
	*number = l->events_wait(set, any, 0) + nvmlEventSetWait_v2(set, any, 0);
	*number = l->events_free(set) + nvmlEventSetFree(set);
	*number = l->accounting_mode(device, number) +
		  nvmlDeviceGetAccountingMode(device, (nvmlEnableState_t *)number);
	*number = l->accounting_pids(device, number, number) +
		  nvmlDeviceGetAccountingPids(device, number, number);
	*number =
		l->accounting_stats(device, 1, any) + nvmlDeviceGetAccountingStats(device, 1, any);
}
