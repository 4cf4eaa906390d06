# What only Premium has, and a subscription without its first rule. Who signs in is whoever az knows.
terraform {
  required_providers {
    azurerm = { source = "hashicorp/azurerm" }
  }
}

provider "azurerm" {
  features {
    servicebus { auto_delete_subscription_default_rule = true }
  }
}

resource "azurerm_resource_group" "shop" {
  name     = "tf-premium"
  location = "westeurope"
}

resource "azurerm_servicebus_namespace" "shop" {
  name                         = "tf-premium-ns"
  location                     = azurerm_resource_group.shop.location
  resource_group_name          = azurerm_resource_group.shop.name
  sku                          = "Premium"
  capacity                     = 1
  premium_messaging_partitions = 1
  identity {
    type = "SystemAssigned"
  }
  network_rule_set {
    default_action                = "Allow"
    public_network_access_enabled = true
    ip_rules                      = ["10.1.1.1"]
  }
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
