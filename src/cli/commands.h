// Every command of the program, declared. Each is defined in its cmd_<name>.cc.
#pragma once

#include "cli/command.h"

namespace forebay::cli {

extern const Command kRunCommand;
extern const Command kStoreGetCommand;
extern const Command kStorePutCommand;
extern const Command kStoreStatCommand;
extern const Command kStoreVerifyCommand;
extern const Command kStoreImportCommand;
extern const Command kStoreExportCommand;
extern const Command kTargetCommand;
extern const Command kKeyGenerateCommand;
extern const Command kKeyCheckCommand;
extern const Command kBenchDiskCommand;
extern const Command kBenchFabricCommand;
extern const Command kBenchStoreCommand;
extern const Command kTraceDescribeCommand;
extern const Command kTraceConvertCommand;
extern const Command kTraceSynthesiseCommand;
extern const Command kSimCommand;
extern const Command kReportShowCommand;
extern const Command kVersionCommand;
extern const Command kHelpCommand;

}  // namespace forebay::cli
