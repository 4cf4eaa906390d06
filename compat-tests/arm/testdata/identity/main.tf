# What stands beside the entities: an identity with roles, a diagnostic setting, and, with slow = true, an alert and a lock, for which the
# provider waits two minutes each.
terraform {
  required_providers {
    azurerm = { source = "hashicorp/azurerm" }
  }
}

provider "azurerm" {
  features {}
}

variable "slow" { default = false }
variable "deliveries" { default = 5 }

data "azurerm_client_config" "me" {}
data "azurerm_subscription" "current" {}

resource "azurerm_resource_group" "shop" {
  name     = "tf-identity"
  location = "westeurope"
}

resource "azurerm_user_assigned_identity" "app" {
  name                = "app"
  location            = azurerm_resource_group.shop.location
  resource_group_name = azurerm_resource_group.shop.name
}

resource "azurerm_servicebus_namespace" "shop" {
  name                = "tf-identity-ns"
  location            = azurerm_resource_group.shop.location
  resource_group_name = azurerm_resource_group.shop.name
  sku                 = "Standard"
}

resource "azurerm_servicebus_queue" "orders" {
  name               = "orders"
  namespace_id       = azurerm_servicebus_namespace.shop.id
  max_delivery_count = var.deliveries
}

resource "azurerm_servicebus_topic" "events" {
  name         = "events"
  namespace_id = azurerm_servicebus_namespace.shop.id
}

resource "azurerm_servicebus_subscription" "audit" {
  name               = "audit"
  topic_id           = azurerm_servicebus_topic.events.id
  max_delivery_count = 5
}

resource "azurerm_role_assignment" "by_name" {
  scope                = azurerm_servicebus_namespace.shop.id
  role_definition_name = "Azure Service Bus Data Sender"
  principal_id         = azurerm_user_assigned_identity.app.principal_id
}

resource "azurerm_role_assignment" "by_id" {
  scope              = azurerm_servicebus_queue.orders.id
  role_definition_id = "${data.azurerm_subscription.current.id}/providers/Microsoft.Authorization/roleDefinitions/090c5cfd-751d-490a-894a-3ce6f1109419"
  principal_id       = data.azurerm_client_config.me.object_id
}

resource "azurerm_role_assignment" "of_subscription" {
  scope                = azurerm_servicebus_subscription.audit.id
  role_definition_name = "Azure Service Bus Data Receiver"
  principal_id         = azurerm_user_assigned_identity.app.principal_id
}

resource "azurerm_monitor_diagnostic_setting" "logs" {
  name                       = "logs"
  target_resource_id         = azurerm_servicebus_namespace.shop.id
  log_analytics_workspace_id = "${azurerm_resource_group.shop.id}/providers/Microsoft.OperationalInsights/workspaces/logs"
  enabled_log { category_group = "allLogs" }
  enabled_metric { category = "AllMetrics" }
}

resource "azurerm_monitor_metric_alert" "dead" {
  count               = var.slow ? 1 : 0
  name                = "dead-letters"
  resource_group_name = azurerm_resource_group.shop.name
  scopes              = [azurerm_servicebus_namespace.shop.id]
  criteria {
    metric_namespace = "Microsoft.ServiceBus/namespaces"
    metric_name      = "DeadletteredMessages"
    aggregation      = "Maximum"
    operator         = "GreaterThan"
    threshold        = 0
  }
}

resource "azurerm_management_lock" "keep" {
  count      = var.slow ? 1 : 0
  name       = "keep"
  scope      = azurerm_servicebus_namespace.shop.id
  lock_level = "CanNotDelete"
}
